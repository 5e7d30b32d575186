from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from docker import APIClient
from docker.errors import ImageNotFound

from arcview.errors import CancelledError
from arcview.gates.docker_engine.images import find_image
from arcview.gates.errors import ImageMissingError, ImageRefusedError

_ID = "sha256:" + "3" * 64
_LINES: list[dict[str, Any]] = [
    {"status": "Pulling from gate", "id": "1"},
    {"status": "Downloading", "id": "a1", "progress": "[=>  ] 1MB/4MB", "progressDetail": {}},
    {"status": "Pull complete", "id": "a1"},
]


class Client:
    """An engine that has one image after that was fetched."""

    def __init__(self, lines: list[dict[str, Any]], *, has_image: bool = False) -> None:
        self.lines, self.has_image = lines, has_image
        self.asked: list[str] = []
        self.is_stopped = False

    def inspect_image(self, name: str) -> dict[str, object]:
        if not self.has_image:
            raise ImageNotFound(f"no {name}")
        return {"Id": _ID}

    def pull(self, name: str, *, stream: bool, decode: bool) -> Iterator[dict[str, Any]]:
        assert stream
        assert decode
        self.asked.append(name)
        return self._pull()

    def _pull(self) -> Iterator[dict[str, Any]]:
        try:
            yield from self.lines
            self.has_image = True
        finally:
            self.is_stopped = not self.has_image


def _client(client: Client) -> APIClient:
    return cast("APIClient", client)


def test_an_image_that_is_not_there_is_missing_unless_it_may_be_fetched() -> None:
    with pytest.raises(ImageMissingError, match="gate:1 is not on this engine"):
        find_image(_client(Client([])), "gate:1", None, allow_other=False, on_pull=None)


def test_a_fetched_image_is_found_and_what_the_engine_says_is_passed_on() -> None:
    said: list[str] = []
    client = Client(_LINES)
    image = find_image(_client(client), "gate:1", None, allow_other=False, on_pull=said.append)
    assert image.id == _ID
    assert client.asked == ["gate:1"]
    assert said == ["1 Pulling from gate", "a1 Downloading", "a1 Pull complete"]


def test_an_image_that_is_there_is_not_fetched() -> None:
    client = Client(_LINES, has_image=True)
    find_image(_client(client), "gate:1", None, allow_other=False, on_pull=lambda _line: None)
    assert client.asked == []


def test_a_fetch_that_is_cancelled_is_not_read_on() -> None:
    def stop(_line: str) -> None:
        raise CancelledError("cancelled")

    client = Client(_LINES)
    with pytest.raises(CancelledError):
        find_image(_client(client), "gate:1", None, allow_other=False, on_pull=stop)
    assert client.is_stopped


def test_why_an_image_cannot_be_fetched_is_said() -> None:
    client = Client([{"error": "no such host"}])
    with pytest.raises(ImageRefusedError, match="gate:1 cannot be pulled: no such host"):
        find_image(_client(client), "gate:1", None, allow_other=False, on_pull=lambda _line: None)
