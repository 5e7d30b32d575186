"""The lines of a file that is too large for memory: a sparse index of line ends, pages on demand.

Pure but for reading its one file. 200 MB with 1.7 million lines need an index of 24 kB.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

from arcview.text import CLIP_LIMIT
from arcview.ui.rows.lines import Cell, Needle
from arcview.ui.rows.text_view import AnsiRows
from arcview.ui.safe import visible

BLOCK_BYTES = 64 * 1024
SLICE_BYTES = 1 << 20
"""A search or an index pass gives way after so many bytes."""
_CACHED_BLOCKS = 32
_LINE_BYTES = 4 * CLIP_LIMIT + 4
"""More of a line is never drawn."""


class LogFile(AnsiRows):
    """Rows of a file, one a line. The index grows by `extend` with what `count_lines` found."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self.size_bytes = os.fstat(self._file).st_size
        self._ends = array("Q", [0])
        """Line ends before each block."""
        self._blocks: OrderedDict[int, tuple[bytes, Sequence[int]]] = OrderedDict()

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    # The index

    def count_lines(self) -> Iterator[tuple[int, ...]]:
        """Counts line ends by block, a slice at a time; for a worker thread."""
        # Its own handle: the view may close the other one while the thread still counts.
        with self._path.open("rb") as file:
            while data := file.read(SLICE_BYTES):
                yield tuple(
                    data.count(b"\n", offset, offset + BLOCK_BYTES)
                    for offset in range(0, len(data), BLOCK_BYTES)
                )

    def extend(self, counts: Sequence[int]) -> None:
        """Takes in what was counted, in order."""
        for count in counts:
            self._ends.append(self._ends[-1] + count)

    @property
    def indexed_bytes(self) -> int:
        """How far the index goes."""
        return min(self.size_bytes, (len(self._ends) - 1) * BLOCK_BYTES)

    @property
    def is_complete(self) -> bool:
        """Whether every line is known."""
        return self.indexed_bytes >= self.size_bytes

    def __len__(self) -> int:
        ends = self._ends[-1]
        if not self.size_bytes:
            return 0
        open_end = self.is_complete and os.pread(self._file, 1, self.size_bytes - 1) != b"\n"
        return ends + open_end if self.is_complete else max(1, ends)

    def _block(self, number: int) -> tuple[bytes, Sequence[int]]:
        """The bytes of a block and the offsets of its line ends."""
        found = self._blocks.get(number)
        if found is None:
            data = os.pread(self._file, BLOCK_BYTES, number * BLOCK_BYTES)
            found = data, array("H", (match.start() for match in re.finditer(b"\n", data)))
            self._blocks[number] = found
            if len(self._blocks) > _CACHED_BLOCKS:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(number)
        return found

    def offset_of(self, line: int) -> int:
        """Where a 0-based line begins in the file."""
        if line <= 0:
            return 0
        block = bisect_left(self._ends, line) - 1
        _, ends = self._block(block)
        return block * BLOCK_BYTES + ends[line - self._ends[block] - 1] + 1

    def line_of(self, offset: int) -> int:
        """The 0-based line that a byte is in."""
        block, inside = divmod(offset, BLOCK_BYTES)
        _, ends = self._block(block)
        return self._ends[block] + bisect_left(ends, inside)

    def line_bytes(self, line: int) -> bytes:
        """The bytes of a line, without its end; at most what can be drawn, and one more."""
        start = self.offset_of(line)
        block, inside = divmod(start, BLOCK_BYTES)
        data = b""
        while len(data) <= _LINE_BYTES:
            piece, _ = self._block(block)
            if not piece:
                break
            end = piece.find(b"\n", inside)
            if end >= 0:
                return data + piece[inside:end]
            data, block, inside = data + piece[inside:], block + 1, 0
        return data

    # Rows

    def _line(self, index: int) -> str:
        data = self.line_bytes(index)
        if index == 0:
            data = data.removeprefix(b"\xef\xbb\xbf")
        return visible(data.decode("utf-8", "replace").removesuffix("\r"))

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The line number and the line."""
        del width
        return self.numbered(index, index + 1, len(self))

    # Search

    def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
        """Looks through the bytes in slices; waits where the index is not yet complete."""
        pattern = _bytes_pattern(needle)
        overlap = 4 * len(needle.text)
        position = self.offset_of(start) if step > 0 else self._end_of(start)
        while 0 <= position <= self.size_bytes:
            if step > 0:
                begin, end = position, position + SLICE_BYTES
            else:
                begin, end = max(0, position - SLICE_BYTES), position
            while self.indexed_bytes < min(end, self.size_bytes):
                yield None
            data = os.pread(self._file, end - begin + (overlap if step > 0 else 0), begin)
            hits = [match.start() for match in pattern.finditer(data)]
            if hits:
                yield self.line_of(begin + (hits[0] if step > 0 else hits[-1]))
                return
            if (step > 0 and end >= self.size_bytes) or (step < 0 and begin == 0):
                return
            position = end if step > 0 else begin + overlap
            yield None

    def _end_of(self, line: int) -> int:
        return self.size_bytes if line + 1 >= len(self) else self.offset_of(line + 1)


def _bytes_pattern(needle: Needle) -> re.Pattern[bytes]:
    """The needle as UTF-8; each letter in both cases where it is blind to case."""
    if not needle.ignore_case:
        return re.compile(re.escape(needle.text.encode("utf-8", "replace")))
    variants = (dict.fromkeys((char, char.upper())) for char in needle.text)
    return re.compile(
        b"".join(
            b"(?:%s)" % b"|".join(re.escape(c.encode("utf-8", "replace")) for c in chars)
            for chars in variants
        )
    )
