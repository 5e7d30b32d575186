"""A second process is started by forking, so each test has a fresh interpreter of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_HEAD = """
import os, sys, time
from functools import partial
from pathlib import Path
from arcview.errors import ArcviewError
from arcview.session.opened import OpenRun
from arcview.ui.ahead import read_ahead
run, cache = Path(sys.argv[1]), Path(sys.argv[2])
open_run = partial(OpenRun.open, run, cache_root=cache)
"""


def _python(code: str, run: Path, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _HEAD + code, str(run), str(cache)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.strip()


def test_what_was_read_comes_back_through_the_cache(demo_run: Path, tmp_path: Path) -> None:
    code = """
ahead = read_ahead(open_run)
assert ahead.wait()
opened = open_run()
print(opened.from_cache, len(opened.self_tests(2)), opened._opened is None)
"""
    assert _python(code, demo_run, tmp_path) == "True 2 True"


def test_a_run_that_cannot_be_read_costs_nothing_and_says_nothing(tmp_path: Path) -> None:
    code = """
print(read_ahead(open_run).wait())
try:
    open_run()
except ArcviewError:
    print("said by the first process")
"""
    assert _python(code, tmp_path, tmp_path / "cache") == "True\nsaid by the first process"


def test_waiting_has_a_limit_and_can_be_given_up(demo_run: Path, tmp_path: Path) -> None:
    code = """
def slow():
    time.sleep(30)
ahead = read_ahead(slow)
begun = time.monotonic()
print(ahead.wait(0.01))
ahead.stop()
print(time.monotonic() - begun < 20, ahead.wait())
"""
    assert _python(code, demo_run, tmp_path) == "False\nTrue True"


def test_without_fork_nothing_is_started(demo_run: Path, tmp_path: Path) -> None:
    code = """
del os.fork
print(read_ahead(open_run).wait())
"""
    assert _python(code, demo_run, tmp_path) == "True"
