from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from arcview.analysis.what_if_blocks import BlockError, Module
from arcview.analysis.what_if_closure import Closure, Sources, close_over
from arcview.analysis.what_if_merge import merge_modules
from arcview.analysis.what_if_words import added_lines, definitions, textual_doubts


def code(text: str) -> str:
    return dedent(text).lstrip("\n")


def merged(base: str, ours: str, theirs: str, lines: str | None = None) -> str:
    return merge_modules(code(base), code(ours), code(theirs), lambda *_: lines)


def same(one: str, other: str) -> bool:
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(code(other)))


BASE = """
    import os

    def total(rows):
        return sum(rows)

    def show(rows):
        return str(rows)
"""


def test_a_file_is_taken_apart_and_put_together_unchanged() -> None:
    text = code('''
        """Doc."""
        import os  # why
        from a import (
            b,
            c as d,
        )

        # about x
        X = 1

        @decorated
        def f():
            return """
        text
        """

        if __name__ == "__main__":
            f()
        # the end
    ''')
    module = Module.parse(text)
    assert module.text == text
    assert [name.text for name in module.imported] == [
        "import os", "from a import b", "from a import c as d",
    ]  # fmt: skip
    assert list(module.named) == ["__doc__", "X", "f", "if __name__ == '__main__'"]


@pytest.mark.parametrize("text", ["def f(:\n", "a = 1; b = 2\n", "a = 1\rb = 2\n", "a = '\0'\n"])
def test_what_is_no_plain_python_is_refused(text: str) -> None:
    with pytest.raises(BlockError):
        Module.parse(text)


def test_blocks_that_different_sides_changed_come_together() -> None:
    ours = BASE.replace("sum(rows)", "sum(map(int, rows))")
    theirs = BASE.replace("str(rows)", "', '.join(rows)") + "\n    def added():\n        pass\n"
    assert same(
        merged(BASE, ours, theirs),
        """
        import os
        def total(rows):
            return sum(map(int, rows))
        def show(rows):
            return ', '.join(rows)
        def added():
            pass
        """,
    )


def test_ours_keeps_what_theirs_only_laid_out_anew() -> None:
    ours = BASE.replace("sum(rows)", "sum(map(int, rows))")
    theirs = BASE.replace("return sum(rows)", "return sum(  rows )  # sums")
    assert same(merged(BASE, ours, theirs), ours)


def test_a_block_that_both_changed_is_merged_by_lines_or_refused() -> None:
    ours, theirs = BASE.replace("sum(rows)", "1"), BASE.replace("sum(rows)", "2")
    with pytest.raises(BlockError, match="total: both sides changed the same lines"):
        merged(BASE, ours, theirs)
    assert "return 3" in merged(BASE, ours, theirs, "def total(rows):\n    return 3\n")
    with pytest.raises(BlockError, match="do not merge into one definition"):
        merged(BASE, ours, theirs, "def total(rows):\n    return 3\nx = 1\n")


def test_a_block_that_one_side_removed_and_the_other_changed_is_refused() -> None:
    without = code(BASE).split("def show")[0]
    changed = BASE.replace("str(rows)", "repr(rows)")
    for ours, theirs in ((without, changed), (changed, without)):
        with pytest.raises(BlockError, match="show: changed on one side, removed on the other"):
            merged(BASE, ours, theirs)
    assert "show" not in merged(BASE, BASE, without)
    assert "show" not in merged(BASE, without, BASE)


def test_a_block_that_both_added_differently_is_refused() -> None:
    ours, theirs = (BASE + f"\n    def new():\n        return {n}\n" for n in (1, 2))
    with pytest.raises(BlockError, match="new: added on both sides"):
        merged(BASE, ours, theirs)


def test_names_of_one_import_are_merged_one_by_one() -> None:
    base, ours, theirs = (
        f"from a import {names}\n\ndef f():\n    return {names}\n"
        for names in ("b", "b, c", "b, d")
    )
    found = merge_modules(base, ours, theirs, lambda *_: "def f():\n    return b, c, d\n")
    assert {name.text for name in Module.parse(found).imported} == {
        "from a import b", "from a import c", "from a import d",
    }  # fmt: skip


def test_an_import_that_theirs_removed_goes_and_one_that_means_another_thing_is_refused() -> None:
    base = "from a import b, c\n\nx = 1\n"
    moved = "from a import c\nfrom z import b\n\nx = 1\n"
    found = merge_modules(base, base.replace("x = 1", "x = 2"), moved, lambda *_: None)
    assert {name.text for name in Module.parse(found).imported} == {
        "from a import c", "from z import b",
    }  # fmt: skip
    with pytest.raises(BlockError, match="helper would mean two things"):
        merge_modules(
            "x = 1\n",
            "def helper():\n    pass\nx = 1\n",
            "from a import helper\nx = 1\n",
            lambda *_: None,
        )


def test_a_future_import_stays_first() -> None:
    found = merged("'''D.'''\nimport os\n", "'''D.'''\nimport os\nx = 1\n",
                   "'''D.'''\nfrom __future__ import annotations\nimport os\n")  # fmt: skip
    compile(found, "merged", "exec")


def test_a_docstring_is_no_conflict_unless_the_program_prints_it() -> None:
    base, ours, theirs = ('"""A."""\nx = 1\n', '"""B."""\nx = 1\n', '"""C."""\nx = 2\n')
    assert merged(base, ours, theirs) == '"""B."""\nx = 2\n'
    used = "print(__doc__)\n"
    with pytest.raises(BlockError, match="__doc__"):
        merged(base + used, ours + used, theirs + used)


SOURCES = sorted((Path(__file__).parents[2] / "arcview" / "analysis").glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_our_own_modules_merge_with_a_change_of_themselves(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Module.parse(text).text == text
    changed = f"{text}\n\nADDED = 1\n"
    found = merge_modules(text, f"# first\n{text}", changed, lambda *_: None)
    compile(found, path.name, "exec")
    assert Module.parse(found).named.keys() == {*Module.parse(text).named, "ADDED"}


def test_names_of_a_class_body_and_annotations_are_not_used_too_early() -> None:
    text = code("""
        class A:
            def get(self):
                pass
            x = property(get)
            y: B

        class B:
            pass
    """)
    assert merge_modules(text, text, text + "z = 1\n", lambda *_: None) == text + "\nz = 1\n"


def test_two_definitions_of_one_name_are_refused() -> None:
    twice = BASE + "\n    def total(rows):\n        return 0\n"
    with pytest.raises(BlockError, match="total is defined twice"):
        merged(BASE, twice, BASE.replace("str", "repr"))


def test_statements_without_a_name_may_change_on_one_side_only() -> None:
    base, ours, theirs = (BASE + f"\n    print({n})\n" for n in (1, 2, 3))
    assert "print(3)" in merged(base, base, theirs)
    assert "print(1)" not in merged(base, base, theirs)
    with pytest.raises(BlockError, match="define nothing"):
        merged(base, ours, theirs)


def test_a_name_that_would_be_used_before_it_is_defined_is_refused() -> None:
    base = "def a():\n    pass\n"
    ours = "X = [1]\ndef a():\n    pass\n"
    theirs = "def helper():\n    return 1\nTABLE = {1: helper()}\ndef a():\n    pass\n"
    found = merge_modules(base, ours, theirs, lambda *_: None)
    compile(found, "merged", "exec")
    assert found.index("def helper") < found.index("TABLE")
    with pytest.raises(BlockError, match="LIMIT would use X before it is defined"):
        merged("LIMIT = 0\nX = [0]\n", "LIMIT = 0\nX = [0, 1]\n", "X = [0]\nLIMIT = X[0]\n")


def closed(
    base: Mapping[str, str], changed: Mapping[str, str], target: Mapping[str, str]
) -> Closure:
    sides = [
        {path: code(text) for path, text in files.items()} for files in (base, changed, target)
    ]
    paths = [path for path in sides[1] if sides[0].get(path) != sides[1][path]]
    old, new, here = (Sources(files, files.__getitem__) for files in sides)
    return close_over(old, new, here, paths)


HELPER = "def helper(x):\n    return x + LIMIT\n\nLIMIT = 3\n"


def test_a_helper_that_only_the_changes_own_tree_has_is_copied_with_what_it_needs() -> None:
    found = closed(
        {"a.py": HELPER},
        {"a.py": HELPER + "\ndef f():\n    return helper(1)\n"},
        {"a.py": "def f():\n    return helper(1)\n"},
    )
    assert sorted(found.copied) == ["a.py: LIMIT", "a.py: helper"]
    space: dict[str, object] = {}
    exec(found.files["a.py"] + "\nresult = f()", space)
    assert space["result"] == 4


def test_a_helper_of_another_module_is_copied_into_that_module() -> None:
    use = "from app.util import helper\n\ndef f():\n    return helper(1)\n"
    for module in ("app/util.py", "src/app/util.py"):
        found = closed(
            {module: HELPER, "main.py": ""},
            {module: HELPER, "main.py": use},
            {module: "Y = 1\n", "main.py": use},
        )
        assert f"{module}: helper" in found.copied
        assert "def helper" in found.files[module]
        assert "Y = 1" in found.files[module]


def test_a_module_used_by_attribute_gets_what_is_used_of_it() -> None:
    use = "from app import util\n\ndef f():\n    return util.helper(1)\n"
    found = closed(
        {"app/util.py": HELPER, "main.py": ""},
        {"app/util.py": HELPER, "main.py": use},
        {"app/util.py": "Y = 1\n", "main.py": use},
    )
    assert "app/util.py: helper" in found.copied


def test_a_module_that_is_not_there_at_all_is_copied_whole() -> None:
    use = "from .util import helper\n\ndef f():\n    return helper(1)\n"
    found = closed(
        {"app/util.py": HELPER, "app/main.py": ""},
        {"app/util.py": HELPER, "app/main.py": use},
        {"app/main.py": use},
    )
    assert found.copied == ["app/util.py"]
    assert found.files["app/util.py"] == HELPER


def test_an_import_that_a_changed_block_uses_comes_along_and_is_no_copied_code() -> None:
    base = "import json\n\ndef f():\n    return 1\n"
    found = closed(
        {"a.py": base},
        {"a.py": base.replace("return 1", "return json.dumps(1)")},
        {"a.py": "def f():\n    return json.dumps(1)\n"},
    )
    assert found.copied == []
    assert found.files["a.py"].startswith("import json")


def test_a_helper_that_is_called_otherwise_there_is_a_doubt() -> None:
    use = "\ndef f():\n    return helper(1, 2)\n"
    found = closed(
        {"a.py": "def helper(x, y):\n    return x\n"},
        {"a.py": "def helper(x, y):\n    return x\n" + use},
        {"a.py": "def helper(x):\n    return x\n" + use},
    )
    assert found.doubts == ["a.py: helper is called otherwise there"]


def test_a_method_a_parameter_and_a_key_that_are_not_there_are_doubts() -> None:
    base = """
        class Book:
            def entries(self):
                return [{"amount": 1}]
        def show(rows, wide):
            return rows
    """
    use = '\ndef f(book):\n    return show(book.entries()[0]["amount"], wide=True)\n'
    found = closed(
        {"a.py": base},
        {"a.py": code(base) + use},
        {"a.py": "class Book:\n    pass\ndef show(rows):\n    return rows\n" + use},
    )
    assert {doubt.partition("uses ")[2].partition(",")[0] for doubt in found.doubts} >= {
        ".entries", "wide=", "['amount']",
    }  # fmt: skip


def test_what_is_neither_tree_s_own_is_no_doubt() -> None:
    found = closed(
        {"a.py": "def f(text):\n    return text\n"},
        {"a.py": "def f(text):\n    return text.strip().casefold()\n"},
        {"a.py": "def f(text):\n    return text.strip().casefold()\n"},
    )
    assert (found.copied, found.doubts) == ([], [])


def test_local_names_are_not_taken_for_names_of_the_module() -> None:
    base = "def rows():\n    return 1\n"
    use = "\ndef f(x):\n    rows = x\n    return [rows for rows in rows]\n"
    found = closed({"a.py": base}, {"a.py": base + use}, {"a.py": use.lstrip()})
    assert found.copied == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("func Total(rows []int) int {\n", {"Total"}),
        ("func (l *Ledger) Add(x int) error {\n", {"Add"}),
        ("type Book struct {\n\tRows []Row\n\tname string\n}\n", {"Book", "Rows", "name"}),
        ("pub fn total(rows: &[i64]) -> i64 {\n", {"total"}),
        ("pub struct Entry {\n    pub amount: i64,\n}\n", {"Entry", "amount"}),
        ("export async function load(path: string) {\n", {"load"}),
        ("export const MAX = 3;\nclass Book {\n  add(x: number): void {\n", {"MAX", "Book", "add"}),
        ("export interface Entry {\n  amount?: number;\n}\n", {"Entry", "amount"}),
    ],
)  # fmt: skip
def test_definitions_are_known_by_their_looks(text: str, names: set[str]) -> None:
    assert names <= definitions(text).keys()


def test_what_changed_lines_use_and_the_other_tree_lacks_is_a_doubt() -> None:
    base = "func helper(x int) int {\n\treturn x\n}\nfunc same(x int) int {\n\treturn x\n}\n"
    changed = base + "func New(x int) int {\n\treturn helper(same(x))\n}\n"
    added = {"a.go": added_lines(base, changed)}
    new = "func New(x int) int {\n\treturn helper(same(x))\n}\n"
    there = "func same(x int) int {\n\treturn x\n}\n" + new
    other = "func same(x, y int) int {\n\treturn x\n}\n" + base.split("func same")[0] + new
    assert textual_doubts(added, [base], [there]) == ("a.go: uses helper, which is not there",)
    assert textual_doubts(added, [base], [other]) == ("a.go: same is called otherwise there",)
    assert textual_doubts(added, [base], [changed]) == ()


def test_local_names_that_both_trees_use_are_no_doubts() -> None:
    base = "function f(source) {\n  const tag = source.x;\n  return tag;\n}\n"
    added = {"a.ts": "  const close = end(source);\n  push(tag.trim());\n"}
    there = "function g(source) {\n  return source;\n}\n" + added["a.ts"]
    assert textual_doubts(added, [base], [there]) == ()


def test_members_and_imports_that_the_other_tree_lacks_are_doubts() -> None:
    base = "export interface Entry {\n  amount: number;\n}\nexport function pick() {\n}\n"
    added = {"a.ts": "import { pick } from './b';\nconst x = entry.amount;\n"}
    found = textual_doubts(added, [base], [added["a.ts"]])
    assert found == ("a.ts: uses amount, which is not there", "a.ts: uses pick, which is not there")


def test_what_a_change_defines_in_one_file_is_no_lack_of_another() -> None:
    base = "pub fn find(name: &str) -> Unit {\n"
    units = "pub fn find(name: &str, own: &[Unit]) -> Unit {\n"
    added = {"units.rs": units, "main.rs": "    let to = find(&target, &own);\n"}
    assert textual_doubts(added, [base], [units, added["main.rs"]]) == ()
