from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from arcview.analysis.what_if import Transplant
from arcview.gates.definition import GateDefinition, GateStep, HiddenFile, Limits
from arcview.model.run import PathRules
from arcview.session.what_if_transplant import Transplanter
from arcview.states.merge import TreeMerger
from arcview.states.store import StateStore
from tests.states.workspaces import folder_run, ingested

Files = Mapping[str, bytes | str]


def gate(tmp_path: Path, rules: PathRules, **overlay: bytes) -> GateDefinition:
    hidden = []
    for name, data in overlay.items():
        source = tmp_path / "hidden" / name
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(data)
        path = f"tests/{name}.py"
        hidden.append(HiddenFile(path, hashlib.sha256(data).hexdigest(), source))
    step = GateStep("tests", ("pytest", "tests"))
    return GateDefinition(
        "2", None, None, None, (step,), (), tuple(hidden), Limits(), "/w", None, None, None, rules
    )


def put(
    tmp_path: Path, base: Files, changed: Files, target: Files, **overlay: bytes
) -> tuple[Transplant, dict[str, bytes]]:
    """The change from `base` to `changed` on `target`, and the files of the tree that gives."""
    store: StateStore = ingested(folder_run(tmp_path / "run", base, changed, target))
    trees = [store.tree(f"S{number}") or "" for number in range(3)]
    rules = PathRules(generated=("gen/**",))
    found = Transplanter(store, gate(tmp_path, rules, **overlay), lambda: False).put(*trees)
    if found.tree is None:
        return found, {}
    merger = TreeMerger(store)
    files = merger.files(found.tree)
    return found, {path: merger.read(entry.blob) for path, entry in files.items()}


ONE = b"def one():\n    return 1\n"
TWO = b"\n\ndef two():\n    return 2\n"


def test_lines_that_merge_need_no_blocks(tmp_path: Path) -> None:
    found, files = put(tmp_path, {"a.py": ONE}, {"a.py": ONE + TWO}, {"a.py": b"# top\n" + ONE})
    assert (found.mode, found.conflicts) == ("lines", ())
    assert files["a.py"] == b"# top\n" + ONE + TWO


def test_python_that_does_not_merge_by_lines_merges_by_blocks(tmp_path: Path) -> None:
    found, files = put(
        tmp_path,
        {"a.py": ONE},
        {"a.py": ONE + TWO},
        {"a.py": ONE.replace(b"return 1", b"return 11")},
    )
    assert (found.mode, found.conflicts) == ("blocks", ("a.py",))
    assert b"return 11" in files["a.py"]
    assert TWO.strip() in files["a.py"]


def test_code_of_other_languages_that_does_not_merge_is_refused(tmp_path: Path) -> None:
    one = b"func one() int {\n\treturn 1\n}\n"
    found, _ = put(
        tmp_path,
        {"a.go": one},
        {"a.go": one.replace(b"1", b"2")},
        {"a.go": one.replace(b"1", b"3")},
    )
    assert (found.tree, found.mode) == (None, "none")
    assert found.reason == "a.go does not merge: both sides changed the same lines"


def test_a_file_that_the_gate_lays_its_own_over_cannot_conflict(tmp_path: Path) -> None:
    sides = [{"a.py": ONE, "tests/own.py": text} for text in (b"1\n", b"2\n", b"3\n")]
    assert put(tmp_path / "a", *sides)[0].reason is not None
    found, files = put(tmp_path / "b", *sides, own=b"hidden\n")
    assert (found.reason, files["tests/own.py"]) == (None, b"3\n")


def test_generated_files_and_the_agents_own_tests_cannot_conflict(tmp_path: Path) -> None:
    for name in ("gen/x.txt", "tests/test_mine.py", "pkg/mine_test.go", "src/mine.test.ts"):
        sides = [{"a.py": ONE, name: text} for text in (b"x = 1\n", b"x = 2\n", b"x = 3\n")]
        found, files = put(tmp_path / name.replace("/", "-"), *sides)
        assert (found.reason, files[name]) == (None, b"x = 3\n")


def test_helpers_of_tests_can_conflict(tmp_path: Path) -> None:
    sides = [{"tests/conftest.py": text} for text in (b"x = 1\n", b"x = 2\n", b"x = 3\n")]
    assert put(tmp_path, *sides)[0].tree is None


def test_documentation_cannot_conflict_unless_the_gate_mentions_it(tmp_path: Path) -> None:
    sides = [{"a.py": ONE, "README.md": text} for text in (b"1\n", b"2\n", b"3\n")]
    assert put(tmp_path / "a", *sides, own=b"pass\n")[0].reason is None
    assert put(tmp_path / "b", *sides, own=b"open('README.md')\n")[0].tree is None


def test_a_changed_file_that_the_other_side_does_not_have_comes_along_and_is_named(
    tmp_path: Path,
) -> None:
    found, files = put(
        tmp_path, {"a.py": ONE, "b.py": TWO}, {"a.py": ONE, "b.py": ONE}, {"a.py": ONE}
    )
    assert (found.copied, files["b.py"]) == (("b.py",), ONE)


def test_a_removed_file_that_the_other_side_changed_is_refused(tmp_path: Path) -> None:
    found, _ = put(tmp_path, {"a.py": ONE, "b.py": TWO}, {"a.py": ONE}, {"a.py": ONE, "b.py": ONE})
    assert found.reason is not None
    assert found.reason.startswith("b.py does not merge: changed on one side")


def test_what_a_cleanly_merged_change_needs_is_copied_along_too(tmp_path: Path) -> None:
    helper = b"def helper():\n    return 2\n\n\n"
    use = b"\n\ndef use():\n    return helper()\n"
    found, files = put(
        tmp_path, {"a.py": helper + ONE}, {"a.py": helper + ONE + use}, {"a.py": ONE}
    )
    assert (found.mode, found.copied) == ("blocks", ("a.py: helper",))
    space: dict[str, object] = {}
    exec(files["a.py"] + b"\nresult = use()", space)
    assert space["result"] == 2


def test_what_a_change_in_another_language_lacks_is_a_doubt(tmp_path: Path) -> None:
    helper = b"function helper() {\n  return 2;\n}\n"
    one = b"export function one() {\n  return 1;\n}\n"
    use = b"export function use() {\n  return helper();\n}\n"
    found, _ = put(tmp_path, {"a.ts": helper + one}, {"a.ts": helper + one + use}, {"a.ts": one})
    assert found.doubts == ("a.ts: uses helper, which is not there",)


def test_bytes_that_are_no_text_are_refused_where_they_conflict(tmp_path: Path) -> None:
    sides = [{"a.py": text} for text in (b"x = 1\n", b"x = 2\n", b"x = '\xff'\n")]
    found, _ = put(tmp_path, *sides)
    assert found.reason == "a.py does not merge: it is not UTF-8"
