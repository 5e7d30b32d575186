"""File names in unified diffs: C-style quoting, prefixes, and the two names of one header line."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING = b"/dev/null"

_ESCAPES = {
    ord("a"): 7,
    ord("b"): 8,
    ord("t"): 9,
    ord("n"): 10,
    ord("v"): 11,
    ord("f"): 12,
    ord("r"): 13,
    ord('"'): 34,
    ord("\\"): 92,
}
_ESCAPE = re.compile(rb'\\([0-3][0-7]{2}|[abtnvfr"\\])')
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')

_PREFIXES = {
    (b"a/", b"b/"),
    # `diff.mnemonicPrefix`: commit, index, work tree, object, and two files outside of git.
    (b"c/", b"i/"),
    (b"c/", b"w/"),
    (b"i/", b"w/"),
    (b"o/", b"w/"),
    (b"1/", b"2/"),
}


@dataclass(frozen=True, slots=True)
class Name:
    """A file name of a patch."""

    path: bytes
    """Decoded, still with its prefix."""
    written: bytes
    """As the patch has it."""

    @property
    def is_nothing(self) -> bool:
        """Whether it stands for a side that does not exist."""
        return self.path == NOTHING


def decode(data: bytes) -> str:
    """Text of a patch; bytes that are not UTF-8 are kept as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def unquote(written: bytes) -> Name:
    r"""Reads a name that may be quoted as in C (`"plan \346\227\245.md"`)."""
    if len(written) < 2 or not (written.startswith(b'"') and written.endswith(b'"')):
        return Name(written, written)
    return Name(_ESCAPE.sub(_unescape, written[1:-1]), written)


def header_name(line: bytes) -> Name:
    """The name in a `---` or `+++` line: up to a TAB, after which a time may follow."""
    rest = line[4:]
    if (quoted := _QUOTED.match(rest)) is not None:
        return unquote(quoted[0])
    return unquote(rest.partition(b"\t")[0])


def split_header(line: bytes) -> tuple[Name, Name] | None:
    """The two names of a `diff --git` line, or null where they cannot be told apart.

    Unquoted names may hold blanks. Where no other line names the file both are the same, as git
    itself assumes, so the blank in the middle is the one that parts them.
    """
    rest = line.removeprefix(b"diff --git ")
    if (first := _QUOTED.match(rest)) is not None:
        return unquote(first[0]), unquote(rest[first.end() + 1 :])
    if rest.endswith(b'"') and (start := rest.find(b' "')) >= 0:
        return unquote(rest[:start]), unquote(rest[start + 1 :])
    middle = len(rest) // 2
    old, new = unquote(rest[:middle]), unquote(rest[middle + 1 :])
    if rest[middle : middle + 1] == b" " and _same_file(old, new):
        return old, new
    if rest.count(b" ") == 1:
        left, _, right = rest.partition(b" ")
        return unquote(left), unquote(right)
    return None


def prefix_length(old: Name | None, new: Name | None) -> int:
    """How many bytes of both names are a prefix such as `a/` and `b/`; 0 or 2.

    Args:
        old: The name on the old side; null or `/dev/null` where there is none.
        new: The name on the new side.
    """
    old_prefix = None if old is None or old.is_nothing else old.path[:2]
    new_prefix = None if new is None or new.is_nothing else new.path[:2]
    if old_prefix is None or new_prefix is None:
        return 2 if old_prefix == b"a/" or new_prefix == b"b/" else 0
    return 2 if (old_prefix, new_prefix) in _PREFIXES else 0


def is_inside(path: str) -> bool:
    """Tells whether a path, taken literally, stays inside the folder that it is relative to.

    Links are not looked at: who opens the file has to resolve it and compare again.
    """
    parts = re.split(r"[/\\]", path)
    drive = len(path) > 1 and path[1] == ":"
    return bool(parts[0]) and ".." not in parts and "\0" not in path and not drive


def _same_file(old: Name, new: Name) -> bool:
    if old.path == new.path:
        return True
    return prefix_length(old, new) == 2 and old.path[2:] == new.path[2:]


def _unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) if len(code) == 3 else _ESCAPES[code[0]]])
