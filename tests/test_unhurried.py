from __future__ import annotations

import threading

from arcview.cli.unhurried import Unhurried


def test_a_reader_that_stands_still_holds_nothing_up_and_gets_all_of_it_later() -> None:
    goes_on = threading.Event()
    read: list[bytes] = []

    def take(data: bytes) -> None:
        goes_on.wait(30)
        read.append(data)

    shown = Unhurried(take)
    for number in range(1000):
        shown.feed(b"%d " % number)
    assert read == []
    goes_on.set()
    shown.finish()
    assert b"".join(read) == b"".join(b"%d " % number for number in range(1000))


def test_what_is_too_much_to_wait_is_left_out_and_counted() -> None:
    goes_on = threading.Event()
    read: list[bytes] = []

    def take(data: bytes) -> None:
        goes_on.wait(30)
        read.append(data)

    shown = Unhurried(take, most_waiting_bytes=3)
    for _ in range(5):
        shown.feed(b"abcd")
    goes_on.set()
    shown.finish()
    assert read == [b"abcd", b"\n16 bytes not shown, but kept\n"]


def test_a_reader_that_is_gone_ends_nothing_else() -> None:
    def take(data: bytes) -> None:
        raise OSError("gone")

    shown = Unhurried(take)
    shown.feed(b"a")
    shown.feed(b"b")
    shown.finish()
