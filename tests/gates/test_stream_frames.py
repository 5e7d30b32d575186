from __future__ import annotations

import struct
from pathlib import Path

import pytest

from arcview.gates.docker_engine.stream_frames import FrameReader


def frame(data: bytes, stream: int = 1) -> bytes:
    return struct.pack(">BxxxL", stream, len(data)) + data


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 1000])
def test_output_is_the_same_however_the_bytes_arrive(size: int) -> None:
    sent = frame(b"one\n") + frame(b"", 2) + frame("€".encode() * 20) + frame(b"end", 2)
    reader = FrameReader()
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    got = b"".join(part for piece in pieces for part in reader.feed(piece))
    assert got == b"one\n" + "€".encode() * 20 + b"end"
    assert reader.is_whole


def read(path: Path) -> tuple[bytes, bool]:
    reader = FrameReader()
    return b"".join(reader.feed(path.read_bytes())), reader.is_whole


def test_a_character_may_be_split_across_frames(cases: Path) -> None:
    output, whole = read(cases / "hostile" / "docker" / "k01_utf8_split_across_frames.bin")
    assert (output.decode().strip(), whole) == ("price € ok", True)


def test_a_last_frame_that_is_cut_is_kept_and_known(cases: Path) -> None:
    output, whole = read(cases / "hostile" / "docker" / "k02_last_frame_cut.bin")
    assert output
    assert not whole


def test_frames_keep_the_order_in_which_they_came(cases: Path) -> None:
    output, whole = read(cases / "hostile" / "docker" / "k04_interleaved.bin")
    assert whole
    assert output == b"".join(
        FrameReader().feed((cases / "hostile" / "docker" / "k04_interleaved.bin").read_bytes())
    )


def test_an_empty_frame_does_not_end_the_stream(cases: Path) -> None:
    output, whole = read(cases / "hostile" / "docker" / "k07_zero_length_frame.bin")
    assert output
    assert whole
