"""The words by which pieces of code know each other: attributes, parameters, keys, calls. Pure.

For languages whose code is not parsed here, definitions are known by their looks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GETTERS = ("get", "pop", "setdefault")


def used_words(tree: ast.AST) -> Iterator[str]:
    """Attributes (`.name`), keyword arguments (`name=`) and keys (`['name']`) that code reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield f".{node.attr}"
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from _key(node.slice)
        elif isinstance(node, ast.Call):
            yield from (f"{word.arg}=" for word in node.keywords if word.arg is not None)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _GETTERS and node.args:
                yield from _key(node.args[0])


def defined_words(tree: ast.AST) -> Iterator[str]:
    """The same words where code gives them a meaning."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield f".{node.name}"
        elif isinstance(node, ast.arg):
            yield f"{node.arg}="
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield f".{node.attr}"
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield from _key(node.slice)
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                yield from _key(key)
        elif isinstance(node, ast.ClassDef):
            for name in _class_names(node):
                yield f".{name}"
                yield f"{name}="


def _key(node: ast.AST | None) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield f"[{node.value!r}]"


def _class_names(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def signature(node: ast.stmt) -> str:
    """How a definition is called; empty for what is no function or class."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        plain = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        counts = len(arguments.posonlyargs), len(arguments.defaults)
        words = sorted(arg.arg for arg in arguments.kwonlyargs)
        more = arguments.vararg is not None, arguments.kwarg is not None
        return f"{plain} {counts} {words} {more}"
    if isinstance(node, ast.ClassDef):
        made = [s for s in node.body if isinstance(s, _FUNCTIONS) and s.name == "__init__"]
        return "".join(map(signature, made)) or str(list(_class_names(node)))
    return ""


_DEFINITION = re.compile(
    r"""^[ \t]*(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|async\s+|static\s+|public\s+|private\s+
        |protected\s+|readonly\s+|abstract\s+|unsafe\s+|const\s+(?=fn\b))*
    (?:(?:function\*?|fn|class|interface|struct|enum|trait|type|mod|macro_rules!|def)\s+
        (?P<name>[A-Za-z_$][\w$]*)
      |func\s+(?:\([^)]*\)\s*)?(?P<go>[A-Za-z_]\w*))
    (?P<rest>[^\n{=]*)""",
    re.MULTILINE | re.VERBOSE,
)
_VALUE = re.compile(
    r"^(?:export\s+|pub(?:\([^)]*\))?\s+)?(?:const|static|let|var)\s+(?:mut\s+)?"
    r"(?P<name>[A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
"""At top level only: what stands further in is local."""

_MEMBER = re.compile(
    r"""^[ \t]+(?:pub\s+|readonly\s+|public\s+|private\s+)*(?P<name>[A-Za-z_$][\w$]*)\s*[?!]?\s*
    (?: :\s*[\w<\[(&'"{]
      | \((?P<args>[^()\n]*)\)[^\n;]*\{\s*$
      | \s+[\w*\[\]]+[ \t]*(?:`|//|$) )""",
    re.MULTILINE | re.VERBOSE,
)
"""A field or method, or a key of an object."""

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_CALLED = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*)\s*(?:::\s*<[^>]*>)?\(")
_NAMED = re.compile(r"\.\s*([A-Za-z_$][\w$]*)|(?<![\w$.])([A-Z][\w$]*)")
_IMPORTED = re.compile(r"\bimport\s+(?:type\s+)?\{([^}]*)\}|\buse\s+([\w:{}, ]+);")
_KEYWORDS = frozenset(
    {
        "if", "else", "for", "while", "return", "match", "switch", "case", "default", "func", "fn",
        "let", "var", "const", "new", "self", "this", "package", "import", "use", "go", "defer",
        "try", "catch", "throw", "break", "continue", "mut", "ref", "in", "of", "type", "struct",
    }
)  # fmt: skip

LANGUAGES = {
    ".go": "go", ".rs": "rust", ".ts": "node", ".tsx": "node", ".mts": "node", ".js": "node",
    ".jsx": "node", ".mjs": "node", ".cjs": "node",
}  # fmt: skip
"""Endings of files whose definitions are known by their looks."""


def language(path: str) -> str | None:
    """The language of a file whose definitions are known by their looks; null for others."""
    return LANGUAGES.get(PurePosixPath(path).suffix)


def definitions(text: str) -> dict[str, str]:
    """Name → how it is called, for what looks like a definition or a field."""
    found: dict[str, str] = {}
    for match in _MEMBER.finditer(text):
        if match["name"] not in _KEYWORDS:
            found.setdefault(match["name"], " ".join((match["args"] or "").split()))
    found.update((match["name"], "") for match in _VALUE.finditer(text))
    for match in _DEFINITION.finditer(text):
        found[match["name"] or match["go"]] = " ".join(match["rest"].split())
    return found


def _declared(text: str) -> set[str]:
    """Functions and types that a text surely defines, whatever its other lines look like."""
    return {match["name"] or match["go"] for match in _DEFINITION.finditer(text)}


def textual_doubts(
    added: Mapping[str, str], base: Iterable[str], target: Iterable[str]
) -> tuple[str, ...]:
    """What changed lines use that their old tree defines and the tree they were put on does not.

    Args:
        added: Path → the lines that the change added.
        base: The source files of the tree that the change was made on.
        target: Those of the tree that it was put on, with the change.
    """
    texts = list(target)
    old, new = _all_definitions(base), _all_definitions(texts)
    changed = {line for lines in added.values() for line in lines.splitlines()}
    rest = (line for text in texts for line in text.splitlines() if line not in changed)
    elsewhere = {word for line in rest for word in _WORD.findall(line)}
    brought = {name for lines in added.values() for name in _declared(lines)}
    found: list[str] = []
    for path, lines in added.items():
        known = old.keys() - brought - definitions(lines).keys() - _KEYWORDS
        called = known & set(_CALLED.findall(lines))
        missing = (called | known & _named(lines)) - elsewhere
        found += [f"{path}: uses {word}, which is not there" for word in sorted(missing)]
        there = called & elsewhere & new.keys()
        other = {word for word in there if not old[word] & new[word]}
        found += [f"{path}: {word} is called otherwise there" for word in sorted(other)]
    return tuple(found)


def _named(lines: str) -> set[str]:
    """Members, types and imported names: what cannot be a local variable."""
    found = {word for pair in _NAMED.findall(lines) for word in pair}
    for pair in _IMPORTED.findall(lines):
        found.update(word for part in pair for word in _WORD.findall(part))
    return found - {""}


def _all_definitions(texts: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for text in texts:
        for name, how in definitions(text).items():
            found.setdefault(name, set()).add(how)
    return found


def added_lines(old: str, new: str) -> str:
    """The lines of a text that another does not have."""
    known = set(old.splitlines())
    return "\n".join(line for line in new.splitlines() if line not in known)
