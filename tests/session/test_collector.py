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
    gc.unfreeze()


def test_it_goes_on_after_a_fault() -> None:
    with pytest.raises(ValueError, match="damaged"), held_collector():
        raise ValueError("damaged")
    assert gc.isenabled()
    gc.unfreeze()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with held_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
