"""One JSON document of any size → its value; what is damaged costs itself, not the file.

Shared by the readers of trajectories that are a single document. Knows no format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from arcview.model.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOM = b"\xef\xbb\xbf"
_LARGE_BYTES = 4 * 1024 * 1024
"""From here on a document is parsed in slices, so that nobody waits for one long call."""
_SLICE_BYTES = 1024 * 1024
_BETWEEN = b"\n    },\n    {"
_LAST = b"\n    }\n  ]"
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
_GAP = re.compile(r"[\s,]*")
_BLANK = re.compile(r"\s*")
_SCALAR = re.compile(r"[^\s,\]}\"]*")
_decode = msgspec.json.Decoder().decode


@dataclass(slots=True)
class Document:
    """What a file holds."""

    shown: str
    """The file, as the user would name it."""
    value: object = None
    """Null where not even the beginning is JSON."""
    problems: list[Problem] = field(default_factory=list)
    is_cut: bool = False
    """The file ends before the document does; the last of its values may be incomplete."""

    def note(self, what: str, place: str | None = None) -> None:
        """Notes what is wrong with the file or a place in it."""
        self.problems.append(Problem(f"{self.shown}: {place}" if place else self.shown, what))


def parse_document(
    data: bytes, shown: str, lists: Sequence[str] = (), without: Sequence[str] = ()
) -> Document:
    """Parses one JSON document.

    A byte-order mark is skipped, NUL padding removed, bytes that are not UTF-8 replaced, each but
    the first with a remark. Of a document that is cut off, all whole values are kept; a value in
    the middle that cannot be parsed is left out. Both are reported with line and bytes.

    Args:
        data: The file.
        shown: How the user would name it.
        lists: The lists of objects at its top that can be long.
        without: Lists in the items of those that nobody needs: where the layout of a large
            document tells where they are, they are not parsed but empty.
    """
    document = Document(shown)
    body = data.removeprefix(_BOM)
    if b"\0" in body[:1] + body[-1:]:
        kept = body.strip(b"\0")
        document.note(f"{len(body) - len(kept)} bytes of NUL padding")
        body = kept
    if not body.strip():
        document.note("the file is empty" if not data else f"{len(data)} bytes, all blank or NUL")
        return document
    try:
        document.value = _parsed(body, lists, without)
    except (ValueError, RecursionError):
        _salvage(body, document)
    return document


@lru_cache(maxsize=2)
def peek(head: bytes) -> object:
    """What the first bytes of a document already tell: its keys, and values as far as they go.

    A value that the end of `head` cuts is null. Null, too, for what is no JSON document.
    """
    text = head.removeprefix(_BOM).strip(b"\0").decode("utf-8", "replace")
    return _Torn(text, keeps_parts=True).root()


def _parsed(data: bytes, lists: Sequence[str], without: Sequence[str]) -> object:
    """The value of a whole document.

    Raises:
        ValueError, RecursionError: it is damaged.
    """
    if len(data) < _LARGE_BYTES:
        return _load(data)
    found: dict[str, list[object]] = {}
    rest: list[bytes] = []
    place = 0
    # A valid JSON text has no raw line break inside a string: what is found is structure.
    for start, name in sorted(
        (data.find(b'\n  "' + name.encode() + b'": [\n    {'), name) for name in lists
    ):
        if start >= place:
            found[name] = []
            start = data.index(b"[", start)
            rest += (data[place:start], b"[]")
            place = start + 1
            end = data.index(_LAST, place) + len(_LAST)
            for piece in _slices(data, place, end - 4):
                kept = _dropped(bytes(piece), without) if without else piece
                loaded = _load(b"".join((b"[", kept, b"]")))
                found[name] += loaded if isinstance(loaded, list) else []
            place = end
    value = _load(b"".join([*rest, data[place:]]))
    if not found:
        return value
    if not isinstance(value, dict) or not found.keys() <= value.keys():
        raise ValueError("not the layout that it seemed")
    return value | found


def _load(data: bytes) -> object:
    """The value of a JSON text; what is odd in it (NaN, lone surrogates) is read the slower way.

    Raises:
        ValueError, RecursionError: it is none.
    """
    try:
        value: object = _decode(data)
    except (msgspec.DecodeError, RecursionError):
        value = json.loads(data.decode(), parse_constant=str)
    return value


def _dropped(body: bytes, names: Sequence[str]) -> bytes:
    """The items without the lists of those names, which are left empty."""
    for name in names:
        opening = b'\n      "' + name.encode() + b'": [\n'
        kept: list[bytes] = []
        place = 0
        while (start := body.find(opening, place)) >= 0:
            end = body.find(b"\n      ]", start + len(opening) - 1)
            if end < 0:
                break
            kept += (body[place : start + len(opening) - 1], b"]")
            place = end + 8
        body = b"".join([*kept, body[place:]]) if kept else body
    return body


def _slices(data: bytes, start: int, end: int) -> Iterator[memoryview]:
    """The items between two places in slices of some size, cut between items."""
    view = memoryview(data)
    while (cut := data.find(_BETWEEN, start + _SLICE_BYTES, end)) >= 0:
        yield view[start : cut + 6]
        start = cut + 7
    yield view[start:end]


def _salvage(data: bytes, document: Document) -> None:
    """Parses a damaged document value by value."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start + 1} is not UTF-8; such bytes are replaced"
        document.note(what, f"line {line}")
        text = data.decode("utf-8", "replace")
    torn = _Torn(text)
    document.value = torn.root()
    document.is_cut = torn.has_ended
    for place, length, what in torn.damage:
        line = text.count("\n", 0, place) + 1
        left_out = len(text[place : place + length].encode("utf-8", "surrogatepass"))
        document.note(f"{what}: {left_out:,} bytes left out", f"line {line}")


class _EndError(Exception):
    """The text ends inside a value."""


class _Torn:
    """Parses what can be parsed of a damaged text."""

    def __init__(self, text: str, *, keeps_parts: bool = False) -> None:
        self._text = text
        self._keeps_parts = keeps_parts
        # Line breaks inside strings are against the rules and happen all the same.
        self._decoder = json.JSONDecoder(parse_constant=str, strict=False)
        self.damage: list[tuple[int, int, str]] = []
        """Where, how long, and what is wrong."""
        self.has_ended = False
        """Whether the text ended before its value did."""

    def root(self) -> object:
        """The value of the text; null where it is none."""
        start = self._skip(0, _BLANK)
        if self._text[start : start + 1] not in ("{", "["):
            try:
                value, end = self._decoder.raw_decode(self._text, start)
            except (ValueError, RecursionError):
                self._left_out(start, len(self._text), "not JSON")
                return None
        else:
            value, end = self._container(start, 0)
        if not self.has_ended and self._text[end:].strip():
            self._left_out(end, len(self._text), "more after the end of the document")
        return value

    def _container(self, start: int, depth: int) -> tuple[object, int]:
        if self._text[start] == "{":
            return self._members(start + 1, depth)
        return self._items(start + 1, depth)

    def _members(self, place: int, depth: int) -> tuple[dict[str, object], int]:
        found: dict[str, object] = {}
        while True:
            place = self._skip(place, _GAP)
            if self._text[place : place + 1] in ("}", ""):
                return found, self._close(place)
            start = place
            try:
                key, place = self._decoder.raw_decode(self._text, place)
                place = self._skip(place, _BLANK)
                if not isinstance(key, str) or self._text[place : place + 1] != ":":
                    raise ValueError
            except ValueError:
                return found, self._give_up(start)
            place = self._skip(place + 1, _BLANK)
            value, place, is_whole = self._value(place, depth)
            if is_whole or value is not None or self._keeps_parts:
                found[key] = value
            if self.has_ended:
                return found, place

    def _items(self, place: int, depth: int) -> tuple[list[object], int]:
        found: list[object] = []
        while True:
            place = self._skip(place, _GAP)
            if self._text[place : place + 1] in ("]", ""):
                return found, self._close(place)
            start = place
            value, place, is_whole = self._value(place, depth)
            if is_whole or value is not None:
                found.append(value)
            if self.has_ended:
                return found, place
            if place == start:
                return found, self._give_up(start)

    def _value(self, start: int, depth: int) -> tuple[object, int, bool]:
        """A value, where it ends, and whether it is whole; null for one that is left out."""
        try:
            value, end = self._decoder.raw_decode(self._text, start)
        except RecursionError:
            what = "nested too deeply"
        except ValueError:
            what = "not JSON"
        else:
            if not isinstance(value, (int, float)) or not self._is_cut_number(start):
                return value, end, True
            what = "cut off"
        try:
            end = self._end_of(start)
        except _EndError:
            return self._cut(start, depth)
        if self._text[start] in "[{" and depth < _WALKED_DEPTH:
            value, end = self._container(start, depth + 1)
            return value, end, False
        self._left_out(start, end, what)
        return None, end, False

    def _is_cut_number(self, start: int) -> bool:
        """Whether digits may be missing at the end of the text."""
        match = _SCALAR.match(self._text, start)
        return match is not None and match.end() == len(self._text)

    def _cut(self, start: int, depth: int) -> tuple[object, int, bool]:
        """What there is of a value that the end of the text cuts."""
        is_container = self._text[start : start + 1] in ("[", "{")
        if is_container and depth < _WALKED_DEPTH:
            value, end = self._container(start, depth + 1)
            return value, end, False
        self.has_ended = True
        if self._text[start : start + 1] == '"':
            text = self._begun(start)
            if len(text) >= _TELLING_CHARS:
                self._left_out(len(self._text), len(self._text), "cut off inside a text")
                return text, len(self._text), False
        self._left_out(start, len(self._text), "cut off")
        return None, len(self._text), False

    def _begun(self, start: int) -> str:
        """A text up to where it is cut; nothing where it cannot be read."""
        begun = self._text[start:]
        for _ in range(2):
            try:
                value, _ = self._decoder.raw_decode(begun + '"')
            except ValueError:
                begun = begun[: max(begun.rfind("\\"), 0)]  # an escape may be cut, too
            else:
                return value if isinstance(value, str) else ""
        return ""

    def _end_of(self, start: int) -> int:
        """Where a value ends, by its brackets alone."""
        if self._text[start : start + 1] not in ("[", "{", '"'):
            match = _SCALAR.match(self._text, start)
            end = match.end() if match else start
            if end >= len(self._text):
                raise _EndError
            return end
        depth = 0
        for match in _TOKENS.finditer(self._text, start):
            token = match[0]
            depth += (token in ("[", "{")) - (token in ("]", "}"))
            if token[0] == '"' and (match.end() == len(self._text)):
                raise _EndError
            if depth <= 0:
                return match.end()
        raise _EndError

    def _skip(self, place: int, what: re.Pattern[str]) -> int:
        match = what.match(self._text, place)
        return match.end() if match else place

    def _close(self, place: int) -> int:
        """Steps over the closing bracket; without one the text has ended."""
        if place >= len(self._text):
            if not self.has_ended:
                self._left_out(place, place, "cut off")
            self.has_ended = True
        return place + 1

    def _give_up(self, start: int) -> int:
        """Nothing after this place makes sense."""
        self._left_out(start, len(self._text), "cut off or not JSON")
        self.has_ended = True
        return len(self._text)

    def _left_out(self, start: int, end: int, what: str) -> None:
        self.damage.append((start, end - start, what))


_WALKED_DEPTH = 6
"""How deep into a damaged value to look for whole ones; enough for every known document."""
_TELLING_CHARS = 40
"""A text that is cut is kept from this length on: of a shorter one, none can say what it was."""
