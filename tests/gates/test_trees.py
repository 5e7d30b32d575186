from __future__ import annotations

import pytest

from arcview.gates.trees import Ahead


def test_whatever_ends_the_work_ahead_is_raised_where_its_value_is_needed() -> None:
    def work() -> int:
        raise MemoryError("too much")

    ahead = Ahead(work)
    for _ in range(2):
        with pytest.raises(MemoryError, match="too much"):
            ahead()


def test_what_was_worked_out_ahead_may_be_nothing() -> None:
    assert Ahead(lambda: None)() is None
