"""What a stage's contract demands, and whether a workspace state has it.

Items come from `contract.json`, or are extracted from prose (back-ticked names, quoted messages)
and marked so. Python is read by `ast`; other languages by names and string literals only, which
every finding says. Pure: texts are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from arcview.analysis.contract_python import (
    HOLE,
    PythonIndex,
    index_python,
    normal_value,
    parameters,
)


class ItemKind(StrEnum):
    """What a contract item names."""

    NAME = "name"
    SIGNATURE = "signature"
    CONSTANT = "constant"
    ERROR_MESSAGE = "error_message"


@dataclass(frozen=True, slots=True)
class ContractItem:
    """One demand of a contract."""

    kind: ItemKind
    text: str
    """`Engine.apply`, `apply(rules, *, strict=False)`, `MAX_DEPTH = 8`, `no such note: {id}`; for a
    constant without a name, its value."""
    path: str | None = None
    """The file it must stand in, where the contract says so."""
    extracted: bool = False
    """Taken from prose by its looks; a person may read it differently."""


class Presence(StrEnum):
    """What became of an item in one state."""

    PRESENT = "present"
    DIFFERENT = "different"
    """The name is there, with another signature or value."""
    MISSING = "missing"
    MOVED = "moved"
    """It is there, but not in the file that the contract names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One item looked up in one state."""

    item: ContractItem
    presence: Presence
    path: str | None = None
    line: int | None = None
    found: str | None = None
    """What stands there instead, for `DIFFERENT`; `a string` where a name is only a value."""
    method: Literal["ast", "text"] = "text"


_BACKTICK = re.compile(r"`([^`\n]{2,120})`")
_SIGNATURE = re.compile(r"^(?:def\s+|class\s+|fn\s+|func\s+)?[\w.]+\(.*\)(?:\s*->.*)?:?$")
_CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]+\s*=\s*\S.*$")
_DOTTED = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")
_FILE_NAME = re.compile(r"\.(?:py|md|txt|json|toml|ya?ml|csv|cfg|ini|sh|[cm]?[jt]sx?|rs|go|html?)$")
_MIN_LETTERS = 6
_QUOTED_MESSAGE = re.compile(r'"([^"\n]{6,160} [^"\n]*)"')


def extract_items(prose: str) -> tuple[ContractItem, ...]:
    """Takes items from prose by their looks: back-ticked code and quoted sentences."""
    found: dict[ContractItem, None] = {}
    for text in _BACKTICK.findall(prose):
        kind = _kind_of(text.strip())
        if kind is not None:
            found[ContractItem(kind, text.strip(), extracted=True)] = None
    for text in _QUOTED_MESSAGE.findall(prose):
        if sum(character.isalpha() for character in HOLE.sub("", text)) < _MIN_LETTERS:
            continue  # a placeholder, not a message
        found[ContractItem(ItemKind.ERROR_MESSAGE, text, extracted=True)] = None
    return tuple(found)


def _kind_of(text: str) -> ItemKind | None:
    if _SIGNATURE.match(text):
        return ItemKind.SIGNATURE
    if _CONSTANT.match(text):
        return ItemKind.CONSTANT
    if _DOTTED.match(text) and not _FILE_NAME.search(text) and ("_" in text or text[0].isupper()):
        return ItemKind.NAME
    return None


def items_from_json(data: object) -> tuple[ContractItem, ...]:
    """Reads `contract.json`: `{"items": [{"kind", "literal", "location"?}]}`, or the short form.

    `text` and `path` are other names for `literal` and `location`; what follows a `:` or `#` in a
    location is left out. Entries of unknown kinds are names; entries without a text are left out.
    In the short one (`{"shop.cart.Cart.add": "(item: str) -> None"}`) the modules before a name
    say no file, and what is no parameter list says nothing but the name.
    """
    if not isinstance(data, Mapping):
        return ()
    if "items" not in data:
        return tuple(_short_items(data))
    entries = data["items"]
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping):
            continue
        text = entry.get("literal", entry.get("text"))
        location = entry.get("location", entry.get("path"))
        kind = entry.get("kind")
        if isinstance(text, str) and text.strip():
            known = ItemKind(kind) if kind in _KINDS else ItemKind.NAME
            path = re.split("[:#]", location)[0] if isinstance(location, str) else None
            found.append(ContractItem(known, text.strip(), path or None))
    return tuple(found)


_TITLES = {
    ItemKind.NAME: "Names",
    ItemKind.SIGNATURE: "Signatures",
    ItemKind.CONSTANT: "Constants",
    ItemKind.ERROR_MESSAGE: "Messages",
}


def listing(items: Iterable[ContractItem]) -> str:
    """The items by kind, a line each, with the file that an item must stand in."""
    of: dict[ItemKind, list[str]] = {kind: [] for kind in ItemKind}
    for item in items:
        of[item.kind].append(f"  {item.text}" + (f"  in {item.path}" if item.path else ""))
    parts = ("\n".join((_TITLES[kind], *lines)) for kind, lines in of.items() if lines)
    return "\n\n".join(parts)


def _short_items(data: Mapping[object, object]) -> Iterator[ContractItem]:
    told = {str(name): text.strip() for name, text in data.items() if isinstance(text, str)}
    if not any(text.startswith("(") for text in told.values()):
        return  # some other object
    for name, text in told.items():
        symbol = _MODULES.sub("", name)
        if text.startswith("("):
            yield ContractItem(ItemKind.SIGNATURE, symbol + text)
        elif _DOTTED.match(name):
            yield ContractItem(ItemKind.NAME, symbol)


_MODULES = re.compile(r"^(?:[a-z_][a-z0-9_]*\.)+(?=\w)")
_KINDS = frozenset(kind.value for kind in ItemKind)


def find_items(items: Iterable[ContractItem], files: Mapping[str, str]) -> tuple[Finding, ...]:
    """Looks every item up in the source files of one state.

    Args:
        items: The contract.
        files: Path → text of the state's source files.
    """
    indexes = {path: index_python(text) for path, text in files.items() if path.endswith(".py")}
    readable = {path: index for path, index in indexes.items() if index is not None}
    other = {
        path: text for path, text in files.items() if path not in readable and _CODE.search(path)
    }
    return tuple(_find(item, readable, other) for item in items)


_CODE = re.compile(
    r"\.(?:py|pyi|[cm]?[jt]sx?|vue|svelte|rs|go|java|kts?|scala|swift|dart|rb|php|pl|lua|exs?|erl"
    r"|hs|ml|clj|c|h|cc|hh|cpp|hpp|cxx|hxx|cs|fs|m|mm|zig|nim|jl|r|sh|bash|sql|proto|graphql)$",
    re.IGNORECASE,
)
"""Code; sample data of a program says nothing of what the program has."""
_BEST_FIRST = (Presence.PRESENT, Presence.MOVED, Presence.DIFFERENT)


def _find(
    item: ContractItem, python: Mapping[str, PythonIndex], other: Mapping[str, str]
) -> Finding:
    hits = [finding for path, index in python.items() for finding in _in_python(item, path, index)]
    hits += [finding for path, text in other.items() for finding in _in_text(item, path, text)]
    if not hits:
        return Finding(item, Presence.MISSING, method="ast" if python and not other else "text")
    return min(hits, key=lambda found: (_BEST_FIRST.index(found.presence), found.found is not None))


def _placed(item: ContractItem, path: str) -> Presence:
    return Presence.PRESENT if item.path in (None, path) else Presence.MOVED


def _in_python(item: ContractItem, path: str, index: PythonIndex) -> Iterator[Finding]:
    if item.kind is ItemKind.CONSTANT and "=" in item.text:
        name, _, value = (part.strip() for part in item.text.partition("="))
        if name in index.constants:
            line, found = index.constants[name]
            same = found == normal_value(value)
            yield _compared(item, path, line, found, same=same)
    elif item.kind in (ItemKind.CONSTANT, ItemKind.ERROR_MESSAGE):
        for literal in index.literals:
            if literal.says(item.text):
                yield _compared(item, path, literal.line, literal.text, same=True)
            elif literal.holds(item.text):
                yield _compared(item, path, literal.line, literal.text, same=False)
    else:
        wanted, signature = _name_and_signature(item.text)
        if item.extracted and signature is None:
            # Names that prose quotes are often values: error types, commands, fields.
            for literal in index.literals:
                if literal.text == item.text:
                    yield Finding(item, _placed(item, path), path, literal.line, "a string", "ast")
        for name, (line, found_signature) in index.names.items():
            if name == wanted or name.endswith(f".{wanted}"):
                same = signature in (None, found_signature)
                yield _compared(item, path, line, found_signature, same=same)


def _compared(
    item: ContractItem, path: str, line: int, found: str | None, *, same: bool
) -> Finding:
    if same:
        return Finding(item, _placed(item, path), path, line, method="ast")
    return Finding(item, Presence.DIFFERENT, path, line, found, "ast")


def _in_text(item: ContractItem, path: str, text: str) -> Iterator[Finding]:
    is_text = item.kind is ItemKind.CONSTANT and "=" not in item.text
    if is_text or item.kind is ItemKind.ERROR_MESSAGE:
        pattern = ".{0,60}?".join(re.escape(part) for part in HOLE.split(item.text))
    else:
        name = re.match(r"(?:\w+\s+)?([\w.]+)", item.text)
        wanted = name[1].rpartition(".")[2] if name else item.text
        pattern = rf"\b{re.escape(wanted)}\b"
    match = re.search(pattern, text)
    if match:
        yield Finding(item, _placed(item, path), path, text.count("\n", 0, match.start()) + 1)


def _name_and_signature(text: str) -> tuple[str, str | None]:
    text = re.sub(r"^(?:async\s+)?(?:def|class)\s+", "", text).rstrip(":").strip()
    if "(" not in text:
        return text, None
    name = text.partition("(")[0]
    return name, parameters(text[len(name) :])
