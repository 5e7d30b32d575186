"""What is measured: the empty app, and arcview on a run, with its own cache folder."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.terminal import COLUMNS, ROWS, Terminal

ROOT = Path(__file__).parents[2]
ARCVIEW = str(Path(sys.executable).parent / "arcview")
CASE = "circuit-eval"


def empty_app() -> Terminal:
    """The yardstick, started from its own file as arcview is from its script."""
    return Terminal([sys.executable, str(ROOT / "tests" / "bench" / "empty_app.py")])


def arcview(run: Path, cache: Path) -> Terminal:
    """The program on a run, with the given cache folder, and labels beside that."""
    labels = {"ARCVIEW_SIDECAR": str(cache.parent / "labels"), "ARCVIEW_ANNOTATOR": "bench"}
    return Terminal([ARCVIEW, str(run)], {"ARCVIEW_CACHE": str(cache), **labels})


def whole_frame(text: str) -> bool:
    """Whether as many cells were written as the screen has."""
    return len(text) - text.count("\n") - text.count("\r") >= COLUMNS * ROWS


@contextmanager
def bench_run(argv: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """The run to measure and a scratch folder: the first argument, else a real case, else ours."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        yield (Path(argv[1]) if len(argv) > 1 else _case(scratch)), scratch


def _case(scratch: Path) -> Path:
    cases = Path(os.environ.get("ARCVIEW_CASES", ROOT.parent / "shared" / "cases"))
    packed = cases / "scb" / f"{CASE}.tar.xz"
    if not packed.exists():
        print(f"{packed} is not there: measured on the sample run instead")
        return ROOT / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
    with tarfile.open(packed) as archive:
        archive.extractall(scratch / "case", filter="data")
    return scratch / "case" / CASE


def fill_cache(run: Path, cache: Path) -> None:
    """Opens the run once on a terminal, until nothing more is written."""
    shutil.rmtree(cache, ignore_errors=True)
    with arcview(run, cache) as terminal:
        terminal.wait_for(whole_frame)
        terminal.settle(quiet_s=3)


def show_json(run: Path, cache: Path) -> str:
    """The JSON twin of the run, as the program prints it."""
    done = subprocess.run(
        [ARCVIEW, "show", str(run), "--json"],
        env={**os.environ, "ARCVIEW_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def row(name: str, values: Sequence[float], base: float | None = None) -> str:
    """A line of the table: minimum and median in ms, and the ratio of the minimum to a base."""
    least, middle = min(values) * 1000, statistics.median(values) * 1000
    ratio = f"{least / base / 1000:6.2f}×" if base else ""
    return f"{name:<44} {least:8.1f} {middle:8.1f} {ratio}"


HEAD = f"{'':<44} {'min ms':>8} {'median':>8}"
