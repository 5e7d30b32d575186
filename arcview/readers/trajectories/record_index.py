"""Where each record of long logs lies, so that single ones can be read again.

Knows no format. Sixteen bytes a record.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from arcview.files import open_file
from arcview.readers.trajectories.records import LINES_BUFFER_BYTES, Lines, each_record


def unreadable(error: OSError) -> str:
    """What to say of a file that cannot be read."""
    return f"cannot be read: {error.strerror or error}"


class Found(NamedTuple):
    """A record that was read again."""

    file: int
    """Place of its file in `RecordIndex.files`."""
    line: int
    value: object


class RecordIndex:
    """The records of several files, numbered through in the order in which they are read."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self._firsts: list[int] = []
        """Number of the first record of each file."""
        self._offsets = array("Q")
        self._lines = array("Q")

    def __len__(self) -> int:
        return len(self._offsets)

    def read(self, path: Path, lines: Lines) -> Iterator[tuple[int, object]]:
        """The records of the next file with their lines (1-based), none of them kept.

        Args:
            path: A file of JSON Lines.
            lines: Takes the problems.

        Raises:
            OSError: it cannot be read.
        """
        self.files.append(path)
        self._firsts.append(len(self._offsets))
        offset = following = 0

        def each_line() -> Iterator[bytes]:
            nonlocal offset, following
            with open_file(path, buffer_bytes=LINES_BUFFER_BYTES) as file:
                for line in file:
                    offset, following = following, following + len(line)
                    yield line

        for number, value in each_record(each_line(), lines):
            self._offsets.append(offset)
            self._lines.append(number)
            yield number, value

    def again(self, records: Iterable[int]) -> dict[int, Found]:
        """Records by their numbers; those that are no records any more are left out.

        Raises:
            OSError: a file cannot be read any more.
        """
        found: dict[int, Found] = {}
        with ExitStack() as opened:
            place, file = -1, None
            for record in sorted(records):
                home = bisect_right(self._firsts, record) - 1
                if file is None or home != place:
                    place, file = home, opened.enter_context(open_file(self.files[home]))
                file.seek(self._offsets[record])
                number = self._lines[record]
                for _, value in each_record([file.readline()], Lines(""), first=number):
                    found[record] = Found(place, number, value)
        return found
