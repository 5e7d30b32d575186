"""What one Python file defines: names, signatures, constants and string literals, read by `ast`.

Pure; the file is parsed, never run. Indexes are kept, since most files are the same in many states.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

HOLE = re.compile(r"\{[^{}]*\}|<[a-z_ ]+>|%[sdr]")
"""What stands for a value in a message: `{name}`, `<name>`, `%s`."""

_MIN_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Literal:
    """A string or f-string of the code; values that are put in stand between its parts."""

    line: int
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The literal as it would be written, each value as `{}`."""
        return "{}".join(self.parts)

    def says(self, message: str) -> bool:
        """Whether the literal can print exactly that message, holes of both sides open."""
        plain = HOLE.sub("\0", message)
        if self.holds(message) and _letters(self.text) == _letters("".join(HOLE.split(message))):
            return True  # what is added is punctuation and values
        if len(self.parts) == 1:
            return self.parts[0].strip() == plain.strip()
        if _letters("".join(self.parts)) * 2 < _letters(plain):
            return False  # `f"{a}: {b}"` can print anything and promises nothing
        return re.fullmatch(_skeleton(self.parts), plain.strip()) is not None

    def holds(self, message: str) -> bool:
        """Whether all words of the message stand in the literal, in order, among others."""
        place = 0
        for fragment in HOLE.split(message):
            wanted = fragment.strip()
            place = self.text.find(wanted, place)
            if place < 0:
                return False
            place += len(wanted)
        return _letters("".join(HOLE.split(message))) >= _MIN_LETTERS


def _skeleton(parts: tuple[str, ...]) -> str:
    return r"\s*" + "(?s:.*?)".join(re.escape(part.strip("\n")) for part in parts) + r"\s*"


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)


@dataclass(slots=True)
class PythonIndex:
    """What one Python file defines."""

    names: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """Qualified name → (line, parameters of a function or null)."""
    constants: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Name → (line, value as source)."""
    literals: list[Literal] = field(default_factory=list)


@lru_cache(maxsize=256)
def index_python(text: str) -> PythonIndex | None:
    """Indexes a file; null where it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their escapes and their `is` are not our business
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    index = PythonIndex()
    _collect(tree.body, "", index)
    for node in ast.walk(tree):
        literal = _literal(node)
        if literal is not None:
            index.literals.append(literal)
    return index


def parameters(signature: str) -> str | None:
    """The parameters of `(a, *, b=1) -> int`, as `index_python` writes them; null for no Python."""
    try:
        parsed = ast.parse(f"def _{signature}: ...").body[0]
    except (SyntaxError, ValueError):
        return None
    return _parameters(parsed.args) if isinstance(parsed, ast.FunctionDef) else None


def normal_value(source: str) -> str:
    """A value in the one way of writing it; as it is where it is no Python."""
    try:
        return ast.unparse(ast.parse(source, mode="eval"))
    except (SyntaxError, ValueError):
        return source


def _parameters(arguments: ast.arguments) -> str:
    """Names and defaults of the parameters, without annotations and without `self`."""
    for group in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        for argument in group:
            argument.annotation = None
    for star in (arguments.vararg, arguments.kwarg):
        if star is not None:
            star.annotation = None
    for first in (arguments.posonlyargs, arguments.args):
        if first and first[0].arg in ("self", "cls"):
            del first[0]
    return ast.unparse(arguments)


def _collect(body: Iterable[ast.stmt], prefix: str, index: PythonIndex) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            index.names[prefix + node.name] = (node.lineno, _parameters(node.args))
            if prefix:
                _collect_attributes(node, prefix, index)
        elif isinstance(node, ast.ClassDef):
            index.names[prefix + node.name] = (node.lineno, None)
            _collect(node.body, f"{prefix}{node.name}.", index)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            _collect_values(node, prefix, index)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            # What a module defines under a condition it defines all the same.
            _collect(node.body, prefix, index)
            _collect(getattr(node, "orelse", ()), prefix, index)
            for handler in getattr(node, "handlers", ()):
                _collect(handler.body, prefix, index)


def _collect_values(node: ast.Assign | ast.AnnAssign, prefix: str, index: PythonIndex) -> None:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Name):
            index.names[prefix + target.id] = (node.lineno, None)
            if node.value is not None:
                index.constants[target.id] = (node.lineno, ast.unparse(node.value))


def _collect_attributes(
    function: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str, index: PythonIndex
) -> None:
    """`self.x = …` of a method defines an attribute of its class."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            owner = node.value
            if isinstance(owner, ast.Name) and owner.id == "self":
                index.names.setdefault(prefix + node.attr, (node.lineno, None))


def _literal(node: ast.AST) -> Literal | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = HOLE.split(node.value)
    elif isinstance(node, ast.JoinedStr):
        parts = [""]
        for value in node.values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                parts[-1] += value.value
            else:
                parts.append("")
    else:
        return None
    if _letters("".join(parts)) < _MIN_LETTERS:
        return None
    return Literal(node.lineno, tuple(parts))
