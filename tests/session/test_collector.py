"""The collector waits while much is read, whoever reads."""

from __future__ import annotations

import gc

import pytest

from arcview.session.collector import held_collector


def test_it_waits_until_the_last_reader_is_done() -> None:
    assert gc.isenabled()
    with held_collector():
        with held_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_a_fault() -> None:
    with pytest.raises(ValueError, match="damaged"), held_collector():
        raise ValueError("damaged")
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with held_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_much_is_not_looked_at_again() -> None:
    before = gc.get_freeze_count()
    try:
        with held_collector(is_much=True):
            pass
        assert gc.get_freeze_count() > before
        gc.unfreeze()
        with held_collector():
            pass
        assert gc.get_freeze_count() == 0
    finally:
        gc.unfreeze()
