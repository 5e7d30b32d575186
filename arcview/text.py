"""Makes text that comes from a run fit for a terminal: the only sanitiser of screens, CLI, exports.

Imports the standard library only. Escape sequences are never passed on: `clean` draws them,
`ansi_spans` reads colours out of them and drops or draws the rest.
"""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

CLIP_LIMIT = 4_000
"""Characters of one row that are drawn; a 1 MB line costs 60 ms a paint, its first 4,000 0.4 ms."""

MARK = "\N{REPLACEMENT CHARACTER}"
"""What is drawn for a character that must not, or cannot, be drawn itself. One cell wide."""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if code != 0x0A}
_PICTURES[0x7F] = "\N{SYMBOL FOR DELETE}"

# Characters that need no look: text of these alone, which is nearly all text, is returned at once.
# The regular expressions below cost 6 ms to compile, so they wait until something else comes.
_COMMON = frozenset(
    chr(code)
    for first, last in (
        (0x0A, 0x0A),
        (0x20, 0x7E),
        (0xA0, 0xAC),
        (0xAE, 0x2FF),
        (0x370, 0x482),
        (0x2010, 0x2027),
        (0x2030, 0x205E),
        (0x20A0, 0x20C0),
        (0x2190, 0x23FF),
        (0x2400, 0x27BF),
    )
    for code in range(first, last + 1)
)

# Everything that has no width, moves the cursor, reorders its neighbours, or has a width that
# terminals disagree on (joiners, selectors, skin tones, flags, private use). Newline and tab are
# left to the callers.
_UNSAFE = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u20dd-\u20e4"
    "\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U0001fffe\U0001ffff\U0002fffe\U0002ffff"
    "\U0003fffe-\U0010ffff"
    "]"
)
# An emoji selector behind a visible character is left out, so that the character has the one
# width it has by itself; terminals disagree on the pair. Anywhere else the selector is a mark.
_EMOJI_SELECTOR = "(?<=[^\\s\x00-\x1f\x7f-\x9f])[\ufe0e\ufe0f]"
# The blocks that hold combining characters, broadly: only text with one of these is walked.
_MAY_COMBINE = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u10ff\u1100-\u11ff\u135d-\u1dff\u20d0-\u20ff\u2cef-\u2dff"
    "\u302a-\u302f\u3099\u309a\ua66f-\uabff\ud7b0-\ud7ff\ufb1e\ufe20-\ufe2f\U00010000-\U0001efff"
    "\U000e0100-\U000e01ef]"
)
_COMBINING = ("Mn", "Mc", "Me")
_STACK_LIMIT = 3


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _picture(match: re.Match[str]) -> str:
    return _PICTURES.get(ord(match[0]), MARK)


def _combines(char: str) -> bool:
    """Whether a character is drawn in the cell before it, as marks and Hangul vowels are."""
    return (
        unicodedata.category(char) in _COMBINING
        or "\u1160" <= char <= "\u11ff"
        or "\ud7b0" <= char <= "\ud7ff"
    )


def _settle_combining(text: str) -> str:
    """Marks combining characters that have no letter to stand on, or stand on too many others.

    A row can be cut or coloured before any character, so one that combines with its left
    neighbour is drawn only where that neighbour is a letter.
    """
    out: list[str] = []
    stack = _STACK_LIMIT
    for char in text:
        if _combines(char):
            stack += 1
            out.append(char if stack <= _STACK_LIMIT else MARK)
        else:
            stack = 0 if char.isalpha() else _STACK_LIMIT
            out.append(char)
    return "".join(out)


def clean(text: str) -> str:
    """Returns text that a terminal can only print: no control, no reordering, no odd width.

    Newlines stay, tabs become blanks up to the next multiple of 8. C0 controls and DEL become
    their pictures (`␛`, `␀`, `␡`), whatever else is unsafe becomes `�`; both are one cell wide.
    Cleaning twice changes nothing.
    """
    if text.isascii():
        return text if text.isprintable() else expand_tabs(text).translate(_PICTURES)
    if _COMMON.issuperset(text):
        return text
    text = expand_tabs(text)
    if _compiled(_UNSAFE).search(text):
        text = _compiled(_EMOJI_SELECTOR).sub("", text)
        text = _compiled(_UNSAFE).sub(_picture, text)
    return _settle_combining(text) if _compiled(_MAY_COMBINE).search(text) else text


def clip(text: str, limit: int = CLIP_LIMIT) -> str:
    """Cuts a text that is too long for one row and says so, with the number left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … {len(text) - limit:,} more characters"


def cell_width(char: str) -> int:
    """How many columns one cleaned character takes: 0, 1 or 2."""
    if char < "\u0300":
        return 1
    if _combines(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str) -> int:
    """How many columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    return sum(map(cell_width, text))


def expand_tabs(text: str, size: int = 8) -> str:
    """Replaces tabs with blanks up to the next multiple of `size` columns; wide characters count 2.

    `str.expandtabs` counts characters, also those that take two columns or none.
    """
    if "\t" not in text:
        return text
    if text.isascii() and text.replace("\t", " ").replace("\n", " ").isprintable():
        return text.expandtabs(size)
    return "\n".join(
        _expand_line(line, size) if "\t" in line else line for line in text.split("\n")
    )


def _expand_line(line: str, size: int) -> str:
    column = 0
    out: list[str] = []
    parts = line.split("\t")
    for part in parts[:-1]:
        # Unsafe characters are measured as what they will become.
        column += cells(clean(part))
        blanks = size - column % size
        column += blanks
        out += (part, " " * blanks)
    return "".join((*out, parts[-1]))


class Decoded(NamedTuple):
    """Bytes read as text."""

    text: str
    encoding: str
    """`utf-8`, `utf-8-sig`, `utf-16-le` or `utf-16-be`."""
    damaged: bool = False
    """Some bytes are not valid in that encoding; each is a replacement character in `text`."""
    binary: bool = False
    """Holds a NUL near its start and no byte-order mark: not text, as git decides it."""


_BINARY_HEAD = 8_000
_BOMS = ((BOM_UTF8, "utf-8-sig"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))


def decode(data: bytes) -> Decoded:
    """Reads bytes as UTF-8, or as UTF-16 where a byte-order mark says so; never raises."""
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    body = data[2:] if encoding.startswith("utf-16") else data
    try:
        text, damaged = body.decode(encoding), False
    except UnicodeDecodeError:
        text, damaged = body.decode(encoding, errors="replace"), True
    binary = encoding == "utf-8" and b"\0" in data[:_BINARY_HEAD]
    return Decoded(text=text, encoding=encoding, damaged=damaged, binary=binary)


class AnsiStyle(NamedTuple):
    """What SGR parameters ask for. A colour is 0–15 (of the palette), `#rrggbb`, or null."""

    foreground: int | str | None = None
    background: int | str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


class AnsiSpan(NamedTuple):
    """A styled part of a line: character offsets into the cleaned text, end exclusive."""

    start: int
    end: int
    style: AnsiStyle


_PLAIN = AnsiStyle()
# CSI (colours kept, the rest dropped), character sets, and OSC 8 links (their text stays). Other
# sequences stand in no honest log and are drawn. All of them end within the line.
_SEQUENCE = (
    "(?:\x1b\\[|\x9b)(?P<parameters>[0-?]{0,64})[ -/]{0,4}(?P<final>[@-~])"
    "|\x1b[()*+][0-9A-Za-z]"
    "|(?:\x1b\\]|\x9d)8;[^\x00-\x1f\x7f-\x9f]{0,2048}(?:\x07|\x1b\\\\|\x9c)"
)
_OVERSTRIKE = "([^\x00-\x1f])\x08([^\x00-\x1f])"


def ansi_spans(line: str) -> tuple[str, tuple[AnsiSpan, ...]]:
    """Reads one line of terminal output: its clean text, and the parts that SGR codes style.

    Of a line redrawn by carriage returns the last drawing counts. Overstruck characters are bold
    or underlined. Malformed SGR parameters are ignored. Styles end with the line.
    """
    if "\r" in line:
        line = _last_drawing(line)
    if line.isprintable() or not (
        "\x1b" in line or "\b" in line or "\x9b" in line or "\x9d" in line
    ):
        return clean(line), ()
    pieces = _overstruck(_sgr_pieces(line)) if "\b" in line else _sgr_pieces(line)
    raw = "".join(text for text, _ in pieces)
    return clean(raw), tuple(_place(raw, pieces))


def _place(raw: str, pieces: list[tuple[str, AnsiStyle]]) -> Iterator[AnsiSpan]:
    """Finds the styled pieces again in the cleaned line, neighbours of one style as one."""
    # A tab depends on its column and a combining character on its neighbour: where there are
    # such, a border is found by cleaning all that is before it.
    neighbourly = f"{_MAY_COMBINE}|[\ufe0e\ufe0f]"
    apart = "\t" not in raw and (raw.isascii() or not _compiled(neighbourly).search(raw))
    position = end = 0
    for style, run in groupby(pieces, key=itemgetter(1)):
        text = "".join(piece for piece, _ in run)
        position += len(text)
        start, end = end, end + len(text) if apart else len(clean(raw[:position]))
        if style != _PLAIN and end > start:
            yield AnsiSpan(start, end, style)


def ansi_plain(text: str) -> str:
    """Terminal output of many lines as clean text without styles; newlines stay."""
    return "\n".join(ansi_spans(line)[0] for line in text.split("\n"))


def _last_drawing(line: str) -> str:
    """Of a progress line the part after the last carriage return that has any text."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _sgr_pieces(line: str) -> list[tuple[str, AnsiStyle]]:
    pieces: list[tuple[str, AnsiStyle]] = []
    style = _PLAIN
    position = 0
    for match in _compiled(_SEQUENCE).finditer(line):
        if match.start() > position:
            pieces.append((line[position : match.start()], style))
        position = match.end()
        if match["final"] == "m":
            style = _apply_sgr(style, match["parameters"])
    if position < len(line):
        pieces.append((line[position:], style))
    return pieces


def _overstruck(pieces: list[tuple[str, AnsiStyle]]) -> list[tuple[str, AnsiStyle]]:
    """Splits `N⌫N` into a bold N and `_⌫u` into an underlined u."""
    out: list[tuple[str, AnsiStyle]] = []
    for text, style in pieces:
        position = 0
        for match in _compiled(_OVERSTRIKE).finditer(text):
            below, above = match[1], match[2]
            if match.start() > position:
                out.append((text[position : match.start()], style))
            position = match.end()
            struck = style._replace(underline=True) if "_" in (below, above) else style
            shown = below if above == "_" else above
            out.append((shown, struck._replace(bold=True) if below == above else struck))
        if position < len(text):
            out.append((text[position:], style))
    return out


_SWITCHES: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}


def _apply_sgr(style: AnsiStyle, parameters: str) -> AnsiStyle:
    """Applies one SGR sequence (ECMA-48 8.3.117, T.416 colours); what is malformed is ignored."""
    fields = parameters.split(";")
    while fields:
        head, *colon = fields.pop(0).split(":")
        if not (head == "" or head.isdecimal()):
            continue
        code = int(head or 0)
        if code == 0:
            style = _PLAIN
        elif code in (38, 48):
            colour = _colour([c for c in colon if c] if colon else _take_colour(fields))
            if colour is not None:
                style = _with_colour(style, colour, background=code == 48)
        elif code == 4 and colon == ["0"]:
            style = style._replace(underline=False)
        elif code in _SWITCHES:
            style = style._replace(**_SWITCHES[code])
        elif code in (39, 49):
            style = _with_colour(style, None, background=code == 49)
        elif 30 <= code <= 37 or 40 <= code <= 47:
            style = _with_colour(style, code % 10, background=code >= 40)
        elif 90 <= code <= 97 or 100 <= code <= 107:
            style = _with_colour(style, code % 10 + 8, background=code >= 100)
    return style


def _with_colour(style: AnsiStyle, colour: int | str | None, *, background: bool) -> AnsiStyle:
    return style._replace(background=colour) if background else style._replace(foreground=colour)


def _take_colour(fields: list[str]) -> list[str]:
    """Removes the parameters that belong to a 38 or 48 from the front of the rest."""
    count = {"5": 2, "2": 4}.get(fields[0] if fields else "", 1)
    taken = fields[:count]
    del fields[:count]
    return taken


def _colour(values: list[str]) -> int | str | None:
    """`5;n` → palette index or cube colour, `2;r;g;b` → `#rrggbb`; null where it is malformed."""
    if not all(value.isdecimal() and len(value) <= 3 and int(value) <= 255 for value in values):
        return None
    match [int(value) for value in values]:
        case [5, index] if index < 16:
            return index
        case [5, index] if index < 232:
            steps = (0, 95, 135, 175, 215, 255)
            cube = index - 16
            return _hex(steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6])
        case [5, index]:
            return _hex(*[8 + 10 * (index - 232)] * 3)
        case [2, red, green, blue] | [2, _, red, green, blue]:
            return _hex(red, green, blue)
        case _:
            return None


def _hex(red: int, green: int, blue: int) -> str:
    return f"#{red:02x}{green:02x}{blue:02x}"
