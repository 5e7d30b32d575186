from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from arcview.gates.definition import HiddenFile
from arcview.gates.tested_tree import Delivery, Origin, TestedTree, TreeFiles
from arcview.model.run import PathRules
from arcview.states.entries import TreeEntry


def entries(files: Mapping[str, str]) -> tuple[TreeEntry, ...]:
    return tuple(
        TreeEntry(p, "160000" if text == "module" else "100644", blob(text), len(text))
        for p, text in files.items()
    )


def blob(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def deliver(
    state: Mapping[str, str],
    *,
    base: Mapping[str, str] | None = None,
    start: Mapping[str, str] | None = None,
    in_image: frozenset[str] = frozenset(),
    overlay: tuple[str, ...] = (),
    rules: PathRules | None = None,
) -> Delivery:
    files = TreeFiles(
        state=entries(state),
        start={path: blob(text) for path, text in (start or {}).items()},
        base=entries(base) if base is not None else None,
    )
    hidden = tuple(HiddenFile(path, "f" * 64, Path("none")) for path in overlay)
    tree = TestedTree(
        "t", Origin.AGENT, hidden, rules or PathRules(), lambda _: iter(()), lambda: files
    )
    return tree.delivery(in_image)


def origins(delivery: Delivery) -> dict[str, str]:
    return {origin.path: origin.origin.value for origin in delivery.origins}


def test_only_what_differs_from_the_image_is_sent() -> None:
    delivery = deliver({"a": "1", "b": "2"}, base={"a": "1", "b": "old", "c": "3"})
    assert [entry.path for entry in delivery.send] == ["b"]
    assert delivery.remove == ("c",)


def test_without_a_known_base_all_is_sent_and_source_of_the_image_goes() -> None:
    image = frozenset({"old.py", "test_old.py", "node_modules/x.js", "__pycache__/a.pyc"})
    delivery = deliver({"a.py": "1"}, in_image=image)
    assert [entry.path for entry in delivery.send] == ["a.py"]
    assert delivery.remove == ("old.py", "test_old.py")
    assert origins(delivery)["node_modules/x.js"] == "image"


def test_vendored_and_generated_files_stay_as_the_image_has_them() -> None:
    rules = PathRules(vendored=("vendor/**",), generated=("*.lock",))
    delivery = deliver(
        {"vendor/x.go": "agent's", "go.lock": "agent's", "main.go": "1"},
        base={"vendor/x.go": "image's", "vendor/y.go": "image's", "main.go": "0"},
        rules=rules,
    )
    assert [entry.path for entry in delivery.send] == ["main.go"]
    assert delivery.remove == ()
    assert origins(delivery) == {
        "main.go": "agent",
        "vendor/x.go": "image",
        "vendor/y.go": "image",
    }
    assert "2 files of the state left to the image" in delivery.notes[0]


def test_an_image_without_a_workspace_gets_all_of_the_state() -> None:
    rules = PathRules(vendored=("vendor/**",))
    delivery = deliver({"vendor/x.go": "1"}, rules=rules)
    assert [entry.path for entry in delivery.send] == ["vendor/x.go"]


def test_a_name_that_looks_generated_is_sent_all_the_same() -> None:
    delivery = deliver({"api_pb2.py": "by hand"}, base={"api_pb2.py": "other"})
    assert [entry.path for entry in delivery.send] == ["api_pb2.py"]


def test_hidden_files_come_last_and_cover_those_of_the_state() -> None:
    delivery = deliver(
        {"test_a.py": "agent's", "a.py": "1", "b.py": "2"},
        start={"a.py": "1"},
        overlay=("test_a.py", "test_b.py"),
    )
    assert origins(delivery) == {
        "a.py": "start",
        "b.py": "agent",
        "test_a.py": "overlay",
        "test_b.py": "overlay",
    }


def test_a_hidden_file_of_the_image_is_no_file_of_the_image_any_more() -> None:
    delivery = deliver({"a.py": "1"}, base={"a.py": "1", "test_a.py": "0"}, overlay=("test_a.py",))
    assert origins(delivery)["test_a.py"] == "overlay"


def test_submodules_are_left_out_and_said_so() -> None:
    delivery = deliver({"lib": "module", "a.py": "1"})
    assert [entry.path for entry in delivery.send] == ["a.py"]
    assert "submodules" in delivery.notes[0]
