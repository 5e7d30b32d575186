from __future__ import annotations

import threading

import pytest

from arcview.gates.errors import EngineUnavailableError
from arcview.session.reruns_engine import SittingEngine
from tests.gates.fake_engine import FakeEngine


class Slow:
    """An engine that answers when a test lets it."""

    def __init__(self) -> None:
        self.engine = FakeEngine(lambda *_: {})
        self.asked = threading.Event()
        self.answers = threading.Event()
        self.closed = threading.Event()
        self.engine.close = self.closed.set  # type: ignore[method-assign]

    def open(self) -> FakeEngine:
        self.asked.set()
        assert self.answers.wait(60)
        return self.engine


def asking(sitting: SittingEngine, said: list[object]) -> threading.Thread:
    def ask() -> None:
        try:
            said.append(sitting.get())
        except EngineUnavailableError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def test_leaving_does_not_wait_for_an_engine_that_hangs() -> None:
    slow = Slow()
    said: list[object] = []
    sitting = SittingEngine(slow.open)
    threads = [asking(sitting, said), asking(sitting, said)]
    assert slow.asked.wait(60)
    sitting.close()
    for thread in threads:
        thread.join(60)
    assert said == ["the run was left before the engine answered"] * 2
    slow.answers.set()
    assert slow.closed.wait(60)


def test_it_is_opened_once_for_all_who_ask() -> None:
    slow = Slow()
    said: list[object] = []
    sitting = SittingEngine(slow.open)
    threads = [asking(sitting, said) for _ in range(4)]
    slow.answers.set()
    for thread in threads:
        thread.join(60)
    assert said == [slow.engine] * 4
    assert not slow.closed.is_set()
    sitting.close()
    assert slow.closed.is_set()


def test_why_none_answers_is_said_each_time_and_may_change() -> None:
    answers: list[FakeEngine | None] = [None, None, FakeEngine(lambda *_: {})]

    def open_it() -> FakeEngine:
        found = answers.pop(0)
        if found is None:
            raise EngineUnavailableError("none answers")
        return found

    sitting = SittingEngine(open_it)
    for _ in range(2):
        with pytest.raises(EngineUnavailableError, match="none answers"):
            sitting.get()
    assert isinstance(sitting.get(), FakeEngine)


def test_leaving_does_not_wait_for_an_engine_that_hangs_while_it_removes_something() -> None:
    engine = FakeEngine(lambda *_: {})
    asked, goes_on = threading.Event(), threading.Event()

    def reap() -> int:
        asked.set()
        assert goes_on.wait(60)
        return 3

    engine.reap = reap  # type: ignore[method-assign]
    sitting = SittingEngine(lambda: engine)
    said: list[int] = []
    thread = threading.Thread(target=lambda: said.append(sitting.reap()))
    thread.start()
    assert asked.wait(60)
    sitting.close()
    thread.join(60)
    assert said == [0]
    goes_on.set()
