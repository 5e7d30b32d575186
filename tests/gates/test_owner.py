from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from arcview.gates.owner import Owner


def test_a_running_process_is_not_gone() -> None:
    own = Owner.current()
    assert Owner.parse(own.text) == own
    assert not own.is_gone()


def test_a_process_that_has_ended_is_gone() -> None:
    code = "from arcview.gates.owner import Owner; print(Owner.current().text)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    owner = Owner.parse(done.stdout)
    assert owner is not None
    assert owner.is_gone()


def test_a_number_that_another_process_got_since_is_gone() -> None:
    assert replace(Owner.current(), started="1").is_gone()


def test_a_process_of_another_machine_is_never_called_gone() -> None:
    assert not replace(Owner.current(), host="elsewhere", pid=1, started="1").is_gone()


def test_other_text_is_no_owner() -> None:
    assert Owner.parse("") is None
    assert Owner.parse("a:b:c") is None
