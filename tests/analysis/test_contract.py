from __future__ import annotations

import pytest

from arcview.analysis.contract import (
    ContractItem,
    ItemKind,
    Presence,
    extract_items,
    find_items,
    items_from_json,
)

CODE = """\
MAX_DEPTH = 8

class Engine:
    LIMIT: int = 3

    def apply(self, rules: list[str], *, strict: bool = False) -> int:
        raise KeyError(f"no such rule: {rules[0]}")

    def __init__(self):
        self.seen = []

def load(path):
    print("file is empty")
    print(f"{path}: {path}")
    raise ValueError(f"cannot load {path}: bad header, try again")

try:
    import fast
except ImportError:
    FAST = False
"""


def find(kind: ItemKind, text: str, path: str | None = None) -> tuple[Presence, int | None]:
    (finding,) = find_items([ContractItem(kind, text, path)], {"engine.py": CODE})
    return finding.presence, finding.line


@pytest.mark.parametrize(
    ("kind", "text", "presence", "line"),
    [
        (ItemKind.NAME, "Engine", Presence.PRESENT, 3),
        (ItemKind.NAME, "Engine.apply", Presence.PRESENT, 6),
        (ItemKind.NAME, "Engine.gone", Presence.MISSING, None),
        (ItemKind.SIGNATURE, "apply(rules, *, strict=False)", Presence.PRESENT, 6),
        (
            ItemKind.SIGNATURE,
            "def apply(self, rules: list[str], *, strict: bool = False) -> int:",
            Presence.PRESENT,
            6,
        ),
        (ItemKind.SIGNATURE, "apply(rules, strict)", Presence.DIFFERENT, 6),
        (ItemKind.CONSTANT, "MAX_DEPTH = 8", Presence.PRESENT, 1),
        (ItemKind.CONSTANT, "MAX_DEPTH = 9", Presence.DIFFERENT, 1),
        (ItemKind.ERROR_MESSAGE, "no such rule: {name}", Presence.PRESENT, 7),
        (ItemKind.ERROR_MESSAGE, "no such rule: <name>", Presence.PRESENT, 7),
        (ItemKind.ERROR_MESSAGE, "file is empty", Presence.PRESENT, 13),
        (ItemKind.ERROR_MESSAGE, "file is missing", Presence.MISSING, None),
        (ItemKind.ERROR_MESSAGE, "cannot load {path}: bad header", Presence.DIFFERENT, 15),
        (ItemKind.ERROR_MESSAGE, "no such rule", Presence.PRESENT, 7),
        (ItemKind.CONSTANT, "file is empty", Presence.PRESENT, 13),
        (ItemKind.CONSTANT, "FAST = False", Presence.PRESENT, 20),
        (ItemKind.NAME, "Engine.seen", Presence.PRESENT, 10),
        (ItemKind.NAME, "Engine.LIMIT", Presence.PRESENT, 4),
    ],
)
def test_items_are_found_in_python_by_its_syntax(
    kind: ItemKind, text: str, presence: Presence, line: int | None
) -> None:
    assert find(kind, text) == (presence, line)


def test_an_item_in_another_file_than_the_contract_names_has_moved() -> None:
    assert find(ItemKind.NAME, "load", "io.py") == (Presence.MOVED, 12)


def test_a_difference_says_what_stands_there() -> None:
    (finding,) = find_items(
        [ContractItem(ItemKind.SIGNATURE, "load(path, mode)")], {"engine.py": CODE}
    )

    assert finding.found == "path"


def test_other_languages_are_searched_as_text_and_say_so() -> None:
    (finding,) = find_items(
        [ContractItem(ItemKind.SIGNATURE, "apply(rules)")], {"a.ts": "\nfunction apply(x) {}"}
    )

    assert (finding.presence, finding.line, finding.method) == (Presence.PRESENT, 2, "text")


def test_python_that_does_not_parse_is_searched_as_text() -> None:
    (finding,) = find_items([ContractItem(ItemKind.NAME, "apply")], {"a.py": "def apply(:\n"})

    assert (finding.presence, finding.method) == (Presence.PRESENT, "text")


def test_prose_gives_items_by_their_looks_and_marks_them() -> None:
    items = extract_items(
        'Call `apply(rules)` with `MAX_DEPTH = 8`; `Engine.run` fails with "no such rule: x". '
        "See `README.md` and `it`."
    )

    assert [(item.kind, item.text) for item in items] == [
        (ItemKind.SIGNATURE, "apply(rules)"),
        (ItemKind.CONSTANT, "MAX_DEPTH = 8"),
        (ItemKind.NAME, "Engine.run"),
        (ItemKind.ERROR_MESSAGE, "no such rule: x"),
    ]
    assert all(item.extracted for item in items)


@pytest.mark.parametrize(
    "data", [None, [], {"items": 3}, {"items": [3, {"text": 4}]}, {"title": "x"}]
)
def test_a_contract_file_of_another_shape_has_no_items(data: object) -> None:
    assert items_from_json(data) == ()


def test_a_contract_file_gives_its_items() -> None:
    data = {"items": [{"kind": "constant", "text": "A = 1", "path": "a.py"}, {"text": "b"}]}

    assert items_from_json(data) == (
        ContractItem(ItemKind.CONSTANT, "A = 1", "a.py"),
        ContractItem(ItemKind.NAME, "b"),
    )


def test_the_fields_of_a_contract_file_have_two_names_each() -> None:
    data = {"items": [{"kind": "name", "literal": "Note.tags", "location": "notes/store.py:12"}]}

    assert items_from_json(data) == (ContractItem(ItemKind.NAME, "Note.tags", "notes/store.py"),)


def test_a_contract_file_may_be_names_with_their_signatures() -> None:
    data = {
        "shop.cart.Cart.add": "(item: str, count: int = 1) -> None",
        "shop.cart.Line": "item: str, count: int",
    }
    code = """
class Line: ...
class Cart:
    def add(self, item: str, count: int = 1) -> None: ...
"""
    found = find_items(items_from_json(data), {"shop/cart.py": code})
    assert [finding.item.text for finding in found] == [
        "Cart.add(item: str, count: int = 1) -> None",
        "Line",
    ]
    assert {finding.presence for finding in found} == {Presence.PRESENT}


def test_a_name_from_prose_may_be_a_value_in_the_code() -> None:
    code = 'ERRORS = {"UndefinedNameError": 3}'
    prose = ContractItem(ItemKind.NAME, "UndefinedNameError", extracted=True)
    declared = ContractItem(ItemKind.NAME, "UndefinedNameError")

    found = find_items([prose, declared], {"a.py": code})

    assert [(f.presence, f.found) for f in found] == [
        (Presence.PRESENT, "a string"),
        (Presence.MISSING, None),
    ]
