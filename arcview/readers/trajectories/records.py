"""Records of a log, line by line, and the values in them; damage costs the damaged line only.

Shared by the readers of trajectories. Knows no format and imports no reader.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from arcview.model.problem import Problem

Record = Mapping[str, object]

_BOM = b"\xef\xbb\xbf"
# Made once: that halves the time of a short line. `parse_constant` sees NaN and Infinity, which no
# other JSON reader would accept back.
_DECODER = json.JSONDecoder(parse_constant=str)
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
# Two to four times as fast. What it refuses is damaged or odd (NaN, lone surrogates, bytes that are
# not UTF-8) and goes the slower way; what it takes, it reads as the standard library does.
_decode = msgspec.json.Decoder().decode
_REFUSED = (msgspec.DecodeError, RecursionError)
_encode = msgspec.json.Encoder().encode

LINES_BUFFER_BYTES = 1 << 20
"""How much of a long log to read at once: that halves the time of going from line to line."""
_MOST_NAMED = 100
"""How many damaged lines of a file are named one by one."""


@dataclass(slots=True)
class Lines:
    """What a file holds."""

    shown: str
    """The file, as the user would name it."""
    records: list[tuple[int, object]] = field(default_factory=list)
    """1-based line and parsed value; values that are no mapping are kept as they are."""
    problems: list[Problem] = field(default_factory=list)

    damaged: int = 0
    """How many times something was wrong with a line; from some number on only counted."""

    def damage(self, line: int, what: str) -> None:
        """Notes what is wrong with a line."""
        self.damaged += 1
        if self.damaged <= _MOST_NAMED:
            self.problems.append(Problem(f"{self.shown}: line {line}", what))
            return
        if self.damaged > _MOST_NAMED + 1:
            self.problems.pop()
        more = self.damaged - _MOST_NAMED
        self.problems.append(Problem(self.shown, f"{more} more, the last in line {line}: {what}"))


def parse_lines(data: bytes, shown: str) -> Lines:
    """Parses JSON Lines.

    A byte-order mark is skipped, NUL padding removed, bytes that are not UTF-8 replaced and
    `NaN` read as text, each with a remark; lines that are not JSON are reported with their size.

    Args:
        data: The file.
        shown: How the user would name it.
    """
    lines = Lines(shown)
    if not data.strip(b"\0 \t\r\n"):
        what = "the file is empty" if not data else f"{len(data)} bytes, all blank or NUL"
        lines.problems.append(Problem(shown, what))
        return lines
    lines.records = list(each_record(io.BytesIO(data), lines))
    return lines


def each_record(
    file: Iterable[bytes], lines: Lines, *, first: int = 1
) -> Iterator[tuple[int, object]]:
    """Parses JSON Lines one by one, so that nobody has to hold the whole file.

    Args:
        file: Its lines with their ends, such as an open binary file.
        lines: Takes the problems.
        first: Number of the first of these lines.
    """
    for number, line in enumerate(file, start=first):
        if number == 1:
            line = line.removeprefix(_BOM)
        try:
            value = _decode(line)
        except _REFUSED:
            is_torn = not line.endswith(b"\n")
            yield from _parse_line(line, number, is_torn=is_torn, lines=lines)
        else:
            yield number, value


def _parse_line(
    line: bytes, number: int, *, is_torn: bool, lines: Lines
) -> Iterator[tuple[int, object]]:
    if b"\0" in line:
        body = line.rstrip(b"\n")
        kept = body.strip(b"\0")
        lines.damage(number, f"{len(body) - len(kept)} bytes of NUL padding")
        line = kept
    line = line.strip()
    if not line:
        return
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        lines.damage(number, f"byte {error.start + 1} is not UTF-8; such bytes are replaced")
        text = line.decode("utf-8", "replace")
    try:
        yield number, _DECODER.decode(text)
    except json.JSONDecodeError:
        what = "cut off" if is_torn and line[:1] in b"{[" else "not JSON"
        lines.damage(number, f"{what}: {len(line)} bytes left out")
    except (RecursionError, ValueError) as error:
        lines.damage(number, f"cannot be parsed: {len(line)} bytes left out ({error})")


def loaded(data: bytes) -> object:
    """The value of a JSON text; null when it is none."""
    try:
        value: object = _decode(data)
    except _REFUSED:
        try:
            value = _DECODER.decode(data.decode("utf-8", "replace"))
        except (RecursionError, ValueError):
            return None
    return value


def parsed(text: str) -> object:
    """The value of a JSON text.

    Raises:
        ValueError: it is none.
        RecursionError: it is nested too deep.
    """
    try:
        return _decode(text)
    except (*_REFUSED, UnicodeEncodeError):
        return _DECODER.decode(text)


def kind_of(record: Record) -> str | None:
    """The type that a record names; null when it is missing or no text."""
    kind = record.get("type")
    return kind if isinstance(kind, str) and kind else None


def text_or_none(value: object) -> str | None:
    """The value when it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def count_or_none(value: object) -> int | None:
    """The value when it is a whole number that is not negative."""
    return value if type(value) is int and value >= 0 else None


def as_json(value: object) -> str:
    """A value as JSON, for what has no better form."""
    try:
        encoded = _encode(value)
        if b"null" not in encoded or _decode(encoded) == value:  # else it may have been NaN
            return msgspec.json.format(encoded, indent=0).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        pass  # as above: the slower way takes it
    try:
        return _ENCODER.encode(value)
    except (ValueError, RecursionError):
        return repr(type(value))
