"""What a stage's contract demands, and whether a workspace state has it.

Items come from `contract.json`, or are extracted from prose (back-ticked names, quoted messages)
and marked so. Python is read by `ast`; other languages by names and string literals only, which
every finding says. Pure: texts are handed in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


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
    """`Engine.apply`, `apply(rules, *, strict=False)`, `MAX_DEPTH = 8`, `no such note: {id}`."""
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
    """What stands there instead, for `DIFFERENT`."""
    method: Literal["ast", "text"] = "text"


_BACKTICK = re.compile(r"`([^`\n]{2,120})`")
_SIGNATURE = re.compile(r"^(?:def\s+|class\s+|fn\s+|func\s+)?[\w.]+\(.*\)(?:\s*->.*)?:?$")
_CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]+\s*=\s*\S.*$")
_DOTTED = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")
_FILE_NAME = re.compile(r"\.(?:py|md|txt|json|toml|ya?ml|csv|cfg|ini|sh|[cm]?[jt]sx?|rs|go|html?)$")
_QUOTED_MESSAGE = re.compile(r'"([^"\n]{6,160} [^"\n]*)"')
_HOLE = re.compile(r"\{[^{}]*\}|<[a-z_ ]+>|%[sd]")


def extract_items(prose: str) -> tuple[ContractItem, ...]:
    """Takes items from prose by their looks: back-ticked code and quoted sentences."""
    found: dict[ContractItem, None] = {}
    for text in _BACKTICK.findall(prose):
        kind = _kind_of(text.strip())
        if kind is not None:
            found[ContractItem(kind, text.strip(), extracted=True)] = None
    for text in _QUOTED_MESSAGE.findall(prose):
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
    """Reads `contract.json`: `{"items": [{"kind", "text", "path"?}]}`; unknown kinds are names."""
    entries = data.get("items") if isinstance(data, Mapping) else None
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
            kind = entry.get("kind")
            known = ItemKind(kind) if kind in set(ItemKind) else ItemKind.NAME
            path = entry.get("path")
            found.append(
                ContractItem(known, entry["text"], path if isinstance(path, str) else None)
            )
    return tuple(found)


@dataclass(slots=True)
class _Index:
    """What one Python file defines."""

    names: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """Qualified name → (line, signature or null)."""
    constants: dict[str, tuple[int, str]] = field(default_factory=dict)
    strings: list[tuple[int, re.Pattern[str]]] = field(default_factory=list)


def find_items(items: Iterable[ContractItem], files: Mapping[str, str]) -> tuple[Finding, ...]:
    """Looks every item up in the source files of one state.

    Args:
        items: The contract.
        files: Path → text of the state's source files.
    """
    indexes = {path: _index_of(text) for path, text in files.items() if path.endswith(".py")}
    readable = {path: index for path, index in indexes.items() if index is not None}
    other = {path: text for path, text in files.items() if path not in readable}
    return tuple(_find(item, readable, other) for item in items)


def _find(item: ContractItem, python: Mapping[str, _Index], other: Mapping[str, str]) -> Finding:
    hits = [finding for path, index in python.items() for finding in _in_python(item, path, index)]
    hits += [finding for path, text in other.items() for finding in _in_text(item, path, text)]
    if not hits:
        return Finding(item, Presence.MISSING, method="ast" if python and not other else "text")
    order = [Presence.PRESENT, Presence.MOVED, Presence.DIFFERENT]
    return min(hits, key=lambda finding: order.index(finding.presence))


def _placed(item: ContractItem, path: str) -> Presence:
    return Presence.PRESENT if item.path in (None, path) else Presence.MOVED


def _in_python(item: ContractItem, path: str, index: _Index) -> Iterator[Finding]:
    if item.kind is ItemKind.ERROR_MESSAGE:
        plain = _HOLE.sub("\0", item.text)
        for line, pattern in index.strings:
            if pattern.fullmatch(plain):
                yield Finding(item, _placed(item, path), path, line, method="ast")
        return
    if item.kind is ItemKind.CONSTANT:
        name, _, value = (part.strip() for part in item.text.partition("="))
        if name in index.constants:
            line, found = index.constants[name]
            same = found == _normal(value)
            presence = _placed(item, path) if same else Presence.DIFFERENT
            yield Finding(item, presence, path, line, None if same else found, "ast")
        return
    wanted, signature = _name_and_signature(item.text)
    for name, (line, found_signature) in index.names.items():
        if name == wanted or name.endswith(f".{wanted}"):
            same = signature is None or signature == found_signature
            presence = _placed(item, path) if same else Presence.DIFFERENT
            yield Finding(item, presence, path, line, None if same else found_signature, "ast")


def _in_text(item: ContractItem, path: str, text: str) -> Iterator[Finding]:
    if item.kind is ItemKind.ERROR_MESSAGE:
        pattern = re.compile(".{0,60}?".join(re.escape(p) for p in _HOLE.split(item.text)))
    else:
        name = re.match(r"(?:\w+\s+)?([\w.]+)", item.text)
        wanted = name[1].rpartition(".")[2] if name else item.text
        pattern = re.compile(rf"\b{re.escape(wanted)}\b")
    match = pattern.search(text)
    if match:
        yield Finding(item, _placed(item, path), path, text.count("\n", 0, match.start()) + 1)


def _name_and_signature(text: str) -> tuple[str, str | None]:
    text = re.sub(r"^(?:async\s+)?(?:def|class)\s+", "", text).rstrip(":").strip()
    if "(" not in text:
        return text, None
    name = text.partition("(")[0]
    try:
        parsed = ast.parse(f"def _{text[len(name) :]}: ...").body[0]
    except SyntaxError:
        return name, None
    assert isinstance(parsed, ast.FunctionDef)
    return name, _arguments(parsed.args)


def _arguments(arguments: ast.arguments) -> str:
    """Names and defaults of the parameters, without annotations and without `self`."""
    for group in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        for argument in group:
            argument.annotation = None
    for star in (arguments.vararg, arguments.kwarg):
        if star is not None:
            star.annotation = None
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        del arguments.args[0]
    return ast.unparse(arguments)


def _normal(value: str) -> str:
    try:
        return ast.unparse(ast.parse(value, mode="eval"))
    except SyntaxError:
        return value


def _index_of(text: str) -> _Index | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    index = _Index()
    _collect(tree.body, "", index)
    for node in ast.walk(tree):
        pattern = _string_pattern(node)
        if pattern is not None and isinstance(node, ast.expr):
            index.strings.append((node.lineno, pattern))
    return index


def _collect(body: list[ast.stmt], prefix: str, index: _Index) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            index.names[prefix + node.name] = (node.lineno, _arguments(node.args))
        elif isinstance(node, ast.ClassDef):
            index.names[prefix + node.name] = (node.lineno, None)
            _collect(node.body, f"{prefix}{node.name}.", index)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    index.constants[target.id] = (node.lineno, ast.unparse(node.value))
                    index.names[prefix + target.id] = (node.lineno, None)


def _string_pattern(node: ast.AST) -> re.Pattern[str] | None:
    """A string or f-string as a pattern over an item's text, in which holes are NUL characters."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 3:
        parts = _HOLE.split(node.value)
    elif isinstance(node, ast.JoinedStr):
        parts, current = [], ""
        for value in node.values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                current += value.value
            else:
                parts.append(current)
                current = ""
        parts.append(current)
    else:
        return None
    return re.compile("(?s:.*?)".join(re.escape(part) for part in parts) + r"\s*")
