"""The frames in which an engine sends what a container prints. Pure; imports nothing of arcview."""

from __future__ import annotations

import struct

_HEADER = struct.Struct(">B3xL")


class FrameReader:
    """Takes bytes as they come and gives what the container printed, in the order of arrival.

    Attributes:
        is_whole: Nothing of a frame is outstanding.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._left = 0

    @property
    def is_whole(self) -> bool:
        """Whether the stream may end here."""
        return not self._pending and not self._left

    def feed(self, data: bytes) -> list[bytes]:
        """What the bytes hold of output; parts of frames are given out as they come."""
        output: list[bytes] = []
        view = memoryview(data)
        while view:
            if self._left:
                part = view[: self._left]
                self._left -= len(part)
                view = view[len(part) :]
                output.append(bytes(part))
                continue
            wanted = _HEADER.size - len(self._pending)
            self._pending += view[:wanted]
            view = view[wanted:]
            if len(self._pending) == _HEADER.size:
                _, self._left = _HEADER.unpack(self._pending)
                self._pending.clear()
        return output
