"""Syntax colours: which characters of a line are a keyword, a string or a comment.

Knows kinds, not colours. Lexes only as far as it is asked. Must not import textual or rich.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LINE_LIMIT = 5_000
CHARACTER_LIMIT = 1_000_000
"""Above either limit a text has no syntax colours: lexing takes 40 µs a line."""


class SyntaxSpan(NamedTuple):
    """A part of one line, end exclusive."""

    start: int
    end: int
    kind: str
    """`keyword`, `string`, `comment`, `number`, `function`, `class`, `builtin`, `decorator`,
    `tag`, `attribute` or `heading`."""


# Checked in this order: the first that holds a token's type names its kind.
_KINDS = (
    ("Comment.Preproc", "keyword"),
    ("Comment", "comment"),
    ("Literal.String.Doc", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Constant", "number"),
    ("Keyword.Type", "builtin"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Function", "function"),
    ("Name.Class", "class"),
    ("Name.Exception", "class"),
    ("Name.Builtin", "builtin"),
    ("Name.Decorator", "decorator"),
    ("Name.Tag", "tag"),
    ("Name.Attribute", "attribute"),
    ("Name.Label", "attribute"),
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
    ("Generic.Emph", "string"),
    ("Generic.Strong", "heading"),
)


@lru_cache(maxsize=256)
def _kind(token_type: str) -> str | None:
    name = token_type.removeprefix("Token.")
    return next(
        (kind for prefix, kind in _KINDS if name == prefix or name.startswith(f"{prefix}.")), None
    )


@lru_cache(maxsize=128)
def _lexer(name: str) -> Lexer | None:
    # 13 ms, and 3 ms a lexer: not before a file is looked at.
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(name)
    if found is None or found.name == "Text only":
        return None
    return found(stripnl=False, ensurenl=False, tabsize=0)


def lexer_for(path: str) -> Lexer | None:
    """The lexer that a file's name asks for; its content is never guessed at (200 ms)."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name).suffix
    # Most names are told by their suffix: one cache entry for all of them.
    return _lexer(f"x{suffix}" if suffix in _COMMON_SUFFIXES else name)


_COMMON_SUFFIXES = frozenset((".py", ".js", ".ts", ".json", ".md", ".toml", ".yaml", ".yml", ".sh"))


class LazySyntax:
    """The syntax of some lines in a row, lexed up to the last line that was asked for."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self._found: list[tuple[SyntaxSpan, ...]] = []
        self._rest: Iterator[tuple[SyntaxSpan, ...]] = iter(())
        if len(lines) <= LINE_LIMIT and sum(map(len, lines)) <= CHARACTER_LIMIT:
            lexer = lexer_for(path)
            if lexer is not None:
                self._rest = _spans(lexer, "\n".join(lines))

    def line(self, index: int) -> tuple[SyntaxSpan, ...]:
        """The spans of one line; none where the text has no known syntax."""
        while len(self._found) <= index:
            spans = next(self._rest, None)
            if spans is None:
                return ()
            self._found.append(spans)
        return self._found[index]


def _spans(lexer: Lexer, text: str) -> Iterator[tuple[SyntaxSpan, ...]]:
    line: list[SyntaxSpan] = []
    column = 0
    for token_type, value in lexer.get_tokens(text):
        kind = _kind(str(token_type))
        parts = value.split("\n")
        for number, part in enumerate(parts):
            if number:
                yield tuple(line)
                line, column = [], 0
            if kind and part.strip():
                line.append(SyntaxSpan(column, column + len(part), kind))
            column += len(part)
    yield tuple(line)
