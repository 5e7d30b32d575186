"""The bounded end of what a command prints."""

from __future__ import annotations

from arcview.session.live_output import KEPT_BYTES, LiveOutput


def test_everything_is_kept_while_it_is_little() -> None:
    output = LiveOutput()
    output.feed(b"one\ntw")
    output.feed(b"o\nthree")
    tail = output.tail()
    assert tail.lines == ("one", "two", "three")
    assert (tail.first_line, tail.total_bytes, tail.is_cut) == (1, 13, False)


def test_nothing_printed_has_no_lines() -> None:
    assert LiveOutput().tail().lines == ()


def test_the_end_is_kept_and_its_lines_are_numbered_as_in_the_whole() -> None:
    output = LiveOutput(kept_bytes=40)
    for number in range(1, 1_001):
        output.feed(f"line {number}\n".encode())
    tail = output.tail()
    assert tail.lines[-1] == "line 1000"
    assert tail.first_line + len(tail.lines) - 1 == 1_000
    assert tail.is_cut


def test_one_huge_piece_is_cut_to_what_is_kept() -> None:
    output = LiveOutput(kept_bytes=10)
    output.feed(b"a\n" * 1_000 + b"last line")
    tail = output.tail()
    assert tail.lines == ("", "last line")
    assert tail.first_line == 1_000
    assert tail.total_bytes == 2_009


def test_a_flood_does_not_grow_what_is_kept() -> None:
    output = LiveOutput()
    piece = b"x" * 65_535 + b"\n"
    for _ in range(800):
        output.feed(piece)
    assert output.total_bytes == 800 * 65_536
    assert sum(map(len, output.tail().lines)) <= 2 * KEPT_BYTES


def test_damaged_bytes_are_marked() -> None:
    output = LiveOutput()
    output.feed(b"caf\xe9\n")
    assert output.tail().lines == ("caf\ufffd",)
