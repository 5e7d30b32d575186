"""What a rerun costs beside its command, against `docker run --rm IMAGE true`, in one sitting.

The yardstick has no network either (`--network none`): an engine without a bridge sets up none at
all for a plain `docker run`, which is shown too. `python -m tests.bench.bench_rerun [FILES
MEGABYTES]` needs a container engine (DOCKER_HOST) and the Python image of the fixtures. The
workspace lies in the image, 50 files differ.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import docker

from arcview.gates.docker_engine.stage_images import REPOSITORY, USES
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from tests.gates.small_run import PASSED, SmallRun

IMAGE = os.environ.get("ARCVIEW_BENCH_IMAGE", "arcview/gate-python:1")
BASE = "arcview-bench:base"
LABEL = "org.arcview.bench"
ROUNDS = 9
DELTA_FILES = 50
LIMIT_FIRST, LIMIT_STAGE, LIMIT_OUTPUT_S = 2.0, 1.4, 0.1
BIG_BYTES = 200_000_000


def main(argv: list[str]) -> None:
    """Measures and prints the table."""
    files, megabytes = (int(argv[1]), int(argv[2])) if len(argv) > 2 else (5000, 50)
    client = docker.from_env(timeout=120)
    with tempfile.TemporaryDirectory() as name:
        os.environ["ARCVIEW_CACHE"] = str(Path(name) / "cache")
        run = _make_run(Path(name), files, megabytes << 20)
        tree = _base_image(client, run)
        _set_image(run, tree)
        _drop_stage_images(client)
        try:
            _measure(run, Path(name))
        finally:
            _drop_stage_images(client)
            client.images.remove(BASE, force=True)


def _measure(run: Path, scratch: Path) -> None:
    opened = OpenRun.open(run)
    yardstick, plain, first, staged = [], [], [], []
    for _ in range(ROUNDS):
        yardstick.append(_timed(partial(_docker_run_true, "--network", "none")))
        plain.append(_timed(_docker_run_true))
        fresh = Reruns(opened, sidecar=scratch / "sidecar")
        fresh.engine()
        first.append(_timed(partial(fresh.run, "1", fresh.target("S1"), again=True)))
        fresh.close()
    reruns = Reruns(opened, sidecar=scratch / "sidecar")
    target = reruns.target("S1")
    reruns.run("1", target, times=USES, again=True)
    for _ in range(ROUNDS):
        yardstick.append(_timed(partial(_docker_run_true, "--network", "none")))
        staged.append(_timed(partial(reruns.run, "1", target, again=True)))
    base = statistics.median(yardstick)
    for title, times in (("docker run, no network", yardstick), ("docker run, as it is", plain)):
        spread = f"{min(times):.3f} to {max(times):.3f}"
        print(f"{title:<34} {statistics.median(times):6.3f} s {'':<24} {spread}")
    _line("rerun, files that differ sent", first, base, LIMIT_FIRST)
    _line("rerun, image of the state there", staged, base, LIMIT_STAGE)
    _output(reruns, scratch)
    reruns.close()


def _line(title: str, times: list[float], base: float, limit: float) -> None:
    median = statistics.median(times)
    spread = f"{min(times):.3f} to {max(times):.3f}"
    print(f"{title:<34} {median:6.3f} s  {median / base:4.2f}x (at most {limit}x)  {spread}")


def _output(reruns: Reruns, scratch: Path) -> None:
    """When what a container prints arrives, and whether all of it does."""
    loud = SmallRun(
        command=("sh", "run.sh"),
        report=None,
        files={"run.sh": 'sleep 1; date +%s.%N; sleep 1; head -c 200000000 /dev/zero | tr "\\0" x'},
        image={"ref": IMAGE},
    )
    opened = OpenRun.open(loud.write(scratch / "loud"))
    other = Reruns(opened, sidecar=scratch / "sidecar", engine=reruns.engine())
    seen: list[tuple[float, bytes]] = []
    lock = threading.Lock()

    def on_output(data: bytes) -> None:
        with lock:
            seen.append((time.time(), data[:64] if seen else data))

    started = time.monotonic()
    (result,) = other.run("1", other.target("S1"), on_output=on_output)
    took = time.monotonic() - started
    printed = float(seen[0][1].split(b"\n")[0])
    size = result.logs[0].stat().st_size
    late = seen[0][0] - printed
    print(f"first output after the container printed it: {late * 1000:.0f} ms (at most 100 ms)")
    print(f"200 MB of output: {size - len(seen[0][1]):,} bytes kept, {took - 2:.1f} s")


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _docker_run_true(*options: str) -> None:
    command = ["docker", "run", "--rm", *options, IMAGE, "true"]
    subprocess.run(command, check=True, capture_output=True)


def _make_run(root: Path, files: int, size: int) -> Path:
    """A run whose stage changed a few of many files; the gate does nothing."""
    rng = random.Random(1)
    start = {
        f"pkg{number % 97}/module_{number}.py": _text(rng, size // files) for number in range(files)
    }
    changed = rng.sample(sorted(start), DELTA_FILES)
    end = start | {name: start[name] + "# changed\n" for name in changed}
    small = SmallRun(
        command=("cp", "hidden/report.json", "report.json"),
        start=start,
        files=end,
        overlay={"hidden/report.json": PASSED},
        image={"ref": BASE},
    )
    return small.write(root)


def _text(rng: random.Random, size: int) -> str:
    line = "".join(rng.choices("abcdefghij ", k=60)) + "\n"
    return "# " + line * (size // 61)


def _base_image(client: docker.DockerClient, run: Path) -> str:
    """Puts the start state into an image; its tree id."""
    opened = OpenRun.open(run)
    opened.ensure_states()
    tree = opened.store.tree("S0")
    assert tree is not None
    container = client.containers.create(IMAGE, ["true"], working_dir="/repo")
    try:
        with tempfile.TemporaryFile() as file:
            folder = run / "stages" / "0" / "workspace"
            subprocess.run(["tar", "-C", str(folder), "-c", "."], stdout=file, check=True)
            file.seek(0)
            container.put_archive("/repo", file)
        repository, _, tag = BASE.partition(":")
        container.commit(repository, tag, changes=f"LABEL {LABEL}=1")
    finally:
        container.remove(force=True)
    return tree


def _set_image(run: Path, tree: str) -> None:
    path = run / "chain" / "chain.json"
    chain = json.loads(path.read_text())
    chain["image"]["base_tree"] = tree
    path.write_text(json.dumps(chain))


def _drop_stage_images(client: docker.DockerClient) -> None:
    # Images made of a container have its labels, and its image's.
    for image in client.images.list(REPOSITORY, filters={"label": LABEL}):
        client.images.remove(str(image.id), force=True)


if __name__ == "__main__":
    main(sys.argv)
