"""Puts the long texts of steps aside into a file without a name, and fetches them again.

For logs whose steps come about in many ways, so that no record of the log is the text of a step.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from tempfile import TemporaryFile
from threading import Lock
from typing import NamedTuple
from weakref import finalize

from arcview.model.trajectory import Image, Step, ToolCall, ToolResult
from arcview.readers.trajectories.cuts import MOST, Cut, cut_arguments, head_of, is_short
from arcview.readers.trajectories.records import as_json

_MOST_ARGUMENTS = 32


class _Place(NamedTuple):
    aside: Aside
    offset: int
    size: int


class Put(Cut):
    """The beginning of a text that lies aside."""

    __slots__ = ("place",)

    place: _Place


class PutArguments(dict[str, object]):
    """What is left of the arguments of a call that lie aside."""

    __slots__ = ("place",)

    place: _Place


class Aside:
    """Texts that are put aside. The file is gone when nobody refers to them any more."""

    def __init__(self) -> None:
        self._file = TemporaryFile(prefix="arcview-", buffering=1 << 20)  # noqa: SIM115 -- see above
        finalize(self, self._file.close)
        self._end = 0
        self._lock = Lock()

    def text(self, text: str) -> str:
        """The text, or what is left of a long one."""
        if len(text) <= MOST or isinstance(text, Cut):
            return text
        found = Put(head_of(text))
        found.length, found.mark = len(text), (len(text), hash(text))
        found.place = self._put(text.encode("utf-8", "surrogatepass"))
        return found

    def joined(self, texts: Iterable[str]) -> str:
        """Texts below each other, as one."""
        parts = list(texts)
        if len(parts) == 1:
            return self.text(parts[0])
        return self.text("\n".join(map(whole_text, parts)))

    def call(self, call: ToolCall) -> ToolCall:
        """A call with its result."""
        arguments, result = call.arguments, call.result
        if not _is_small(arguments):
            written = as_json(arguments).encode("utf-8", "surrogatepass")
            arguments = PutArguments(cut_arguments(arguments))
            arguments.place = self._put(written)
        elif (result is None or _is_short(result)) and not call.raw_arguments:
            return call
        return ToolCall(  # written out: `replace` takes four times as long
            call.key,
            call.name,
            call.kind,
            arguments,
            None if call.raw_arguments is None else self.text(call.raw_arguments),
            None if call.command is None else self.text(call.command),
            call.path,
            None if result is None else self._result(result),
            call.note,
        )

    def _result(self, result: ToolResult) -> ToolResult:
        if _is_short(result):
            return result
        images = tuple(map(self.image, result.images))
        text = self.text(result.text)
        return ToolResult(text, result.is_error, result.exit_code, images, result.at)

    def image(self, image: Image) -> Image:
        """An image."""
        data = image.data_base64
        return image if data is None else replace(image, data_base64=self.text(data))

    def _put(self, data: bytes) -> _Place:
        place = _Place(self, self._end, len(data))
        self._file.write(data)
        self._end += len(data)
        return place

    def get(self, place: _Place) -> bytes:
        """What lies at a place."""
        with self._lock:
            self._file.flush()
        return os.pread(self._file.fileno(), place.size, place.offset)

    def whole(self, head: Step, place: int) -> Step:
        """A step with everything that was put aside of it; see `StepSource`."""
        del place
        return replace(
            head,
            text=whole_text(head.text),
            thinking=whole_text(head.thinking),
            raw=None if head.raw is None else whole_text(head.raw),
            images=tuple(map(_whole_image, head.images)),
            calls=tuple(map(_whole_call, head.calls)),
        )


def _is_small(arguments: Mapping[str, object]) -> bool:
    """Whether arguments stay where they are."""
    if isinstance(arguments, PutArguments):
        return True
    if len(arguments) > _MOST_ARGUMENTS:
        return False
    return all(map(is_short, arguments.values()))


def _is_short(result: ToolResult) -> bool:
    return not result.images and len(result.text) <= MOST


def whole_text(text: str) -> str:
    """A text as it was before it was put aside."""
    if not isinstance(text, Put):
        return text
    return text.place.aside.get(text.place).decode("utf-8", "surrogatepass")


def _whole_call(call: ToolCall) -> ToolCall:
    arguments: Mapping[str, object] = call.arguments
    if isinstance(arguments, PutArguments):
        written = arguments.place.aside.get(arguments.place)
        arguments = json.loads(written.decode("utf-8", "surrogatepass"))
    result = call.result
    if result is not None:
        images = tuple(map(_whole_image, result.images))
        result = replace(result, text=whole_text(result.text), images=images)
    return replace(
        call,
        arguments=arguments,
        raw_arguments=None if call.raw_arguments is None else whole_text(call.raw_arguments),
        command=None if call.command is None else whole_text(call.command),
        result=result,
    )


def _whole_image(image: Image) -> Image:
    data = image.data_base64
    return image if data is None else replace(image, data_base64=whole_text(data))
