"""Everything that can go wrong in a container, each with one clear reason and nothing left over."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from arcview.gates.docker_engine.container import LABEL
from arcview.gates.docker_engine.engine import DockerEngine
from arcview.gates.engine import Phase
from arcview.gates.owner import Owner
from arcview.model.results import Outcome, Verdict
from tests.gates.conftest import OwnEngine, Sit, ours
from tests.gates.small_run import PASSED, SmallRun, says

BIG_BYTES = 200_000_000
REPORT_NOW = f"cat >report.json <<'END'\n{PASSED}\nEND\n"


def script(text: str, **more: object) -> SmallRun:
    return SmallRun(files={"run.sh": text}, **more)  # type: ignore[arg-type]


def test_a_command_that_ignores_to_be_ended_is_ended_and_what_it_left_is_kept(sit: Sit) -> None:
    tests = (
        "import signal, time\n"
        "def test_a(): pass\n"
        "def test_b():\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    print('hanging', flush=True)\n"
        "    time.sleep(600)\n"
    )
    small = SmallRun(
        command=("python3", "-m", "pytest", "-s", "--junitxml=report.xml", "t.py"),
        files={"t.py": tests},
        report="report.xml",
        timeout_s=20,
    )
    sitting = sit(small)
    result = sitting.once()
    assert (result.verdict, result.reason) == (Verdict.FAILED, "timed out after 20 s")
    assert result.timed_out
    assert b"hanging" in sitting.output(result)
    assert [t.outcome for t in result.tests] == [Outcome.PASSED, Outcome.NOT_RUN]


def test_too_little_memory_with_a_test_unfinished_is_a_failure(sit: Sit) -> None:
    code = "x = []\nwhile True: x.append(bytearray(10_000_000))"
    small = SmallRun(command=("python3", "-c", code), limits={"memory_mb": 64})
    result = sit(small).once()
    assert (result.verdict, result.reason) == (Verdict.FAILED, "out of memory (limit 64 MB)")


def test_a_child_that_ran_out_of_memory_is_noted(sit: Sit) -> None:
    hungry = "x = []\nwhile True: x.append(bytearray(10_000_000))"
    small = script(says(PASSED, before=f"python3 -c '{hungry}' || true"), limits={"memory_mb": 64})
    result = sit(small).once()
    assert result.verdict is Verdict.PASSED
    assert "a child process was killed for want of memory" in result.notes


def test_a_fork_bomb_stays_within_its_limit(sit: Sit) -> None:
    code = (
        "import os, time\n"
        "count = 0\n"
        "while True:\n"
        "    try: pid = os.fork()\n"
        "    except OSError: break\n"
        "    if not pid: time.sleep(600)\n"
        "    count += 1\n"
        "print(count)\n"
    )
    small = SmallRun(command=("python3", "-c", code), limits={"pids": 50}, timeout_s=60)
    sitting = sit(small)
    result = sitting.once()
    assert int(sitting.output(result)) < 50
    assert result.reason == "no report: report.json was not written (exit 0)"


def test_a_full_temporary_folder(sit: Sit) -> None:
    text = "cat /dev/zero >/tmp/big || exit 1"
    result = sit(script(text)).once()
    assert result.verdict is Verdict.UNMEASURED
    assert result.reason == "disk full: no space left on device (exit 1)"


def test_two_hundred_megabytes_of_output_lose_no_byte(sit: Sit) -> None:
    got = [0]

    def count(data: bytes) -> None:
        got[0] += len(data)

    text = f"head -c {BIG_BYTES} /dev/zero | tr '\\0' x"
    result = sit(script(text, report=None)).once(on_output=count)
    assert got[0] == BIG_BYTES
    assert result.logs[0].stat().st_size == BIG_BYTES


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (PASSED[:100], "no usable report: report.json"),
        ("", "no usable report: report.json"),
        ("no report at all", "no usable report: report.json"),
    ],
)
def test_a_report_that_is_cut_or_none(sit: Sit, report: str, reason: str) -> None:
    result = sit(script(f"printf '%s' '{report}' >report.json; exit 1")).once()
    assert result.verdict is Verdict.UNMEASURED
    assert (result.reason or "").startswith(reason)


@pytest.mark.parametrize(
    "instead",
    ["ln -s /etc/passwd report.json", "mkdir report.json", "mkfifo report.json"],
)
def test_a_report_that_is_no_file_is_not_read(sit: Sit, instead: str) -> None:
    result = sit(script(instead)).once()
    assert result.verdict is Verdict.UNMEASURED
    assert result.reason == "no report: report.json was not written (exit 0)"


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_report_larger_than_results_may_be_is_left_where_it_is(sit: Sit, exit_code: int) -> None:
    sitting = sit(script(f"truncate -s 20G report.json; exit {exit_code}"))
    result = sitting.once()
    said = f"no usable report: report.json is larger than 512 MB (exit {exit_code})"
    assert (result.verdict, result.reason) == (Verdict.UNMEASURED, said)
    assert {path.name for path in result.logs} == {"log.txt"}


def test_a_report_that_is_too_large_when_its_time_is_over_is_left_where_it_is(sit: Sit) -> None:
    result = sit(script("truncate -s 20G report.json; sleep 60", timeout_s=1)).once()
    assert result.timed_out
    assert {path.name for path in result.logs} == {"log.txt"}


def test_whatever_size_is_written_among_the_results_the_report_comes_out(sit: Sit) -> None:
    junk = "cd /arcview/res; truncate -s 20G a; truncate -s 20G z; truncate -s 20G"
    for name in ("report-2", "tests.reportlog.jsonl"):
        result = sit(script(says(PASSED, before=f"{junk} {name}; cd /repo"))).once()
        assert (result.verdict, result.reason) == (Verdict.PASSED, None)


def test_a_large_report_holds_no_other_run_up(
    sit: Sit, engine_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that still packs a folder for nobody does not remove its container."""
    received = [0]
    sitting = sit(script("truncate -s 20G report.json; truncate -s 20G /arcview/res/a"))
    engine = sitting.reruns.engine()
    assert isinstance(engine, DockerEngine)

    def count(container: str, path: str) -> object:
        chunks, stat = whole(container, path)

        def counted() -> Iterator[bytes]:
            with closing(chunks):
                for chunk in chunks:
                    received[0] += len(chunk)
                    yield chunk

        return counted(), stat

    api = engine._client()
    whole = api.get_archive
    monkeypatch.setattr(api, "get_archive", count)
    sitting.once()
    assert received[0] < 64 << 20
    client = docker.DockerClient(base_url=engine_host, timeout=30)
    assert not ours(client, Owner.current().text)
    client.close()


def test_hostile_results_do_not_leave_their_folder(sit: Sit, tmp_path: Path) -> None:
    text = (
        "cd /arcview/res; ln -s /etc/passwd report-1; mkdir -p a; mkfifo p\n"
        "ln -s /etc/shadow tests.reportlog.jsonl; cd /repo\n"
    )
    before = {path.name for path in tmp_path.iterdir()}
    result = sit(script(text)).once()
    assert result.verdict is Verdict.UNMEASURED
    assert {path.name for path in result.logs} == {"log.txt"}
    assert {path.name for path in tmp_path.iterdir()} - before == {"0", "sidecar", "cache"}


def test_a_command_that_removes_our_folder_is_still_measured(sit: Sit) -> None:
    result = sit(script(f"rm -rf /arcview; {says(PASSED)}")).once()
    assert (result.verdict, result.reason) == (Verdict.PASSED, None)
    assert any("record of its steps is gone" in note for note in result.notes)


def test_a_command_that_is_not_there(sit: Sit) -> None:
    result = sit(SmallRun(command=("no-such-program",))).once()
    assert result.verdict is Verdict.UNMEASURED
    assert result.reason == "command not found (tests, exit 127)"


def test_a_container_that_somebody_else_removes(sit: Sit, engine_host: str) -> None:
    sitting = sit(script("echo begun; sleep 60"))

    def remove(_: bytes) -> None:
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        for found in ours(client, Owner.current().text):
            client.containers.get(found).remove(force=True)
        client.close()

    result = sitting.once(on_output=remove)
    assert result.verdict is Verdict.UNMEASURED
    assert (result.reason or "").startswith("lost during the run: removed by somebody else")
    assert sitting.output(result) == b"begun\n"


def test_cancelling_at_any_moment_leaves_nothing(sit: Sit, engine_host: str) -> None:
    sitting = sit(script(f"echo begun; sleep 0.2; {REPORT_NOW}; sleep 0.2"))
    sitting.once()
    rng = random.Random(1)
    client = docker.DockerClient(base_url=engine_host, timeout=30)
    reasons = set()
    for _ in range(50):
        asked = [0]
        limit = rng.randrange(1, 12)
        at = rng.choice([None, *Phase])
        reached = threading.Event()

        def cancelled(
            asked: list[int] = asked, limit: int = limit, reached: threading.Event = reached
        ) -> bool:
            asked[0] += 1
            return reached.is_set() or asked[0] > limit

        def on_event(
            event: object, at: Phase | None = at, reached: threading.Event = reached
        ) -> None:
            if getattr(event, "phase", None) is at:
                reached.set()

        found = sitting.reruns.run(
            "1",
            sitting.reruns.target("S1"),
            again=True,
            cancelled=cancelled,
            on_event=on_event,
        )
        reasons |= {result.reason for result in found}
        assert not ours(client, Owner.current().text)
    client.close()
    assert "cancelled" in reasons


class TestOfTheProgram:
    """Of arcview itself, as a process."""

    def start(self, run: Path, sidecar: Path, engine: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "arcview", "rerun", str(run), "--gate", "1"]
        command += ["--state", "S1", "--yes", "--again", "--sidecar", str(sidecar)]
        return subprocess.Popen(
            [*command, "--engine", engine],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )

    def test_one_that_is_killed_leaves_an_orphan_that_the_next_start_removes(
        self, sit: Sit, engine_host: str, tmp_path: Path
    ) -> None:
        sitting = sit(script("echo begun; sleep 600", timeout_s=900))
        process = self.start(sitting.run, tmp_path / "sidecar", engine_host)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        owner = f":{process.pid}:"
        process.kill()
        process.communicate()
        left = [
            c
            for c in client.containers.list(filters={"label": LABEL})
            if owner in c.labels[f"{LABEL}.owner"]
        ]
        assert len(left) == 1
        engine = sitting.reruns.engine()
        assert engine.reap() >= 1
        assert left[0].id not in [c.id for c in client.containers.list(all=True)]
        client.close()
        assert sitting.reruns.store.reap() == 1

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_one_that_is_asked_to_end_takes_its_container_along(
        self, sit: Sit, engine_host: str, tmp_path: Path, number: signal.Signals
    ) -> None:
        sitting = sit(script("echo begun; trap '' TERM; sleep 600", timeout_s=900))
        process = self.start(sitting.run, tmp_path / "sidecar", engine_host)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        owner = f":{process.pid}:"
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors == "arcview: interrupted; the container is gone, what it printed is kept\n"
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        labels = [c.labels for c in client.containers.list(all=True, filters={"label": LABEL})]
        client.close()
        assert not [each for each in labels if owner in each[f"{LABEL}.owner"]]
        (result,) = sitting.reruns.store.all()
        assert (result.reason, sitting.output(result)) == ("cancelled", b"begun\n")

    def test_two_at_once_on_one_run_both_store_their_result(
        self, sit: Sit, engine_host: str, tmp_path: Path
    ) -> None:
        sitting = sit(script(says(PASSED, before="echo begun; sleep 0.5")))
        both = [self.start(sitting.run, tmp_path / "sidecar", engine_host) for _ in range(2)]
        for process in both:
            _, errors = process.communicate(timeout=120)
            assert (process.returncode, errors) == (0, "")
        assert [r.attempt for r in sitting.reruns.store.all()] == [1, 2]


def test_a_container_past_its_time_is_an_orphan_whoever_owns_it(
    sit: Sit, engine_host: str, gate_image: Callable[[str], str]
) -> None:
    client = docker.DockerClient(base_url=engine_host, timeout=30)

    def make(owner: str, deadline: float) -> str:
        labels = {LABEL: "x", f"{LABEL}.owner": owner, f"{LABEL}.deadline": str(int(deadline))}
        made = client.containers.create(gate_image("python"), ["true"], labels=labels)
        return str(made.id)

    elsewhere = "another-machine/0/0:1:1"
    late = make(elsewhere, time.time() - 5)
    running = make(elsewhere, time.time() + 600)
    sit(SmallRun()).reruns.engine().reap()
    left = {str(c.id) for c in client.containers.list(all=True)}
    assert late not in left
    assert running in left
    client.containers.get(running).remove()
    client.close()


# The library leaves the sockets of a broken connection to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_engine_that_dies_during_a_run(
    sit: Sit, own_engine: OwnEngine, gate_image: Callable[[str], str]
) -> None:
    small = script("echo begun; sleep 600", timeout_s=900, image={"ref": gate_image("python")})
    sitting = sit(small, url=own_engine.url)

    def kill(_: bytes) -> None:
        os.kill(own_engine.pid(), signal.SIGKILL)

    result = sitting.once(on_output=kill)
    assert result.verdict is Verdict.UNMEASURED
    assert (result.reason or "").startswith("lost during the run: the engine went away")
    assert sitting.output(result) == b"begun\n"
    own_engine.start()
    client = docker.DockerClient(base_url=own_engine.url, timeout=60)
    # As if this process had ended: the next start of arcview looks at the labels.
    for left in client.containers.list(all=True):
        assert left.labels[f"{LABEL}.owner"] == Owner.current().text
        left.remove(force=True, v=True)
    assert client.volumes.list() == []
    assert {network.name for network in client.networks.list()} <= {"none", "host", "bridge"}
    client.close()
    sitting.reruns.close()
    del sitting, client, result
    gc.collect()


def test_after_any_run_the_engine_holds_nothing_of_ours(
    sit: Sit, own_engine: OwnEngine, gate_image: Callable[[str], str]
) -> None:
    client = docker.DockerClient(base_url=own_engine.url, timeout=60)
    networks = {network.name for network in client.networks.list()}
    container = client.containers.create(gate_image("python"), ["true"])
    container.commit("with-volumes", "1", changes=["VOLUME /repo", "VOLUME /data"])
    container.remove()
    for text in (says(PASSED), "sleep 60", "kill -KILL $$", "exit 3"):
        small = script(text, timeout_s=1, image={"ref": "with-volumes:1"})
        sit(small, url=own_engine.url).once()
    assert client.containers.list(all=True) == []
    assert client.volumes.list() == []
    assert {network.name for network in client.networks.list()} == networks
    client.images.remove("with-volumes:1", force=True)
    sitting = sit(script("true", image={"ref": "with-volumes:1"}), url=own_engine.url)
    with pytest.raises(Exception, match="image with-volumes:1 is not on this engine"):
        sitting.once()
    client.close()


def test_an_image_that_is_removed_after_it_was_found(
    sit: Sit, own_engine: OwnEngine, gate_image: Callable[[str], str]
) -> None:
    client = docker.DockerClient(base_url=own_engine.url, timeout=60)
    small = script("true", image={"ref": gate_image("python")})
    sitting = sit(small, url=own_engine.url)
    engine = sitting.reruns.engine()
    assert isinstance(engine, DockerEngine)

    def remove(event: object) -> None:
        if getattr(event, "phase", None) is Phase.READING:
            client.images.remove(gate_image("python"), force=True)

    result = sitting.once(on_event=remove)
    client.close()
    assert result.verdict is Verdict.UNMEASURED
    assert (result.reason or "").startswith("the image is gone")
