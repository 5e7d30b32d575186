"""Reruns in real containers: what goes in, what comes out, what it is kept from."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest

from arcview.gates.docker_engine.stage_images import REPOSITORY, USES
from arcview.gates.errors import ImageRefusedError
from arcview.model.results import Outcome, Verdict
from tests.gates.conftest import Sit
from tests.gates.small_run import FAILED, PASSED, SmallRun, says

LISTING = """
import hashlib, json, os
found = {}
for folder, _, names in os.walk(b"."):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            kind, data = "link", os.readlink(path)
        else:
            kind = "x" if os.stat(path).st_mode & 0o100 else "-"
            data = open(path, "rb").read()
        sha1 = hashlib.sha1(b"blob %d\\0" % len(data) + data).hexdigest()
        found[os.fsdecode(path)[2:]] = [kind, sha1]
empty = [d for d, dirs, names in os.walk(".") if not dirs and not names]
print(json.dumps([found, empty, os.getuid(), os.stat(".").st_uid]))
"""
"""Prints every file of the workspace as git would name it."""


def listing(output: bytes) -> tuple[dict[str, list[str]], list[str], int, int]:
    files, empty, user, owner = json.loads(output)
    return files, empty, user, owner


def git_blob(text: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def lists(**more: object) -> SmallRun:
    return SmallRun(command=("python3", "-c", LISTING), report=None, **more)  # type: ignore[arg-type]


@pytest.fixture
def image_of(engine_host: str, gate_image: Callable[[str], str]) -> Iterator[Callable[..., str]]:
    """Makes an image with files in /repo, from the Python image."""
    client = docker.DockerClient(base_url=engine_host, timeout=60)
    made: list[str] = []

    def make(files: dict[str, str], changes: tuple[str, ...] = ()) -> str:
        container = client.containers.create(gate_image("python"), ["true"], working_dir="/repo")
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text.encode())
                archive.addfile(info, io.BytesIO(text.encode()))
        container.put_archive("/repo", out.getvalue())
        tag = hashlib.sha256(f"{files}{changes}".encode()).hexdigest()[:16]
        container.commit("arcview-test", tag, changes=list(changes) or None)
        container.remove(force=True)
        made.append(f"arcview-test:{tag}")
        return made[-1]

    yield make
    for name in made:
        client.images.remove(name, force=True)
    client.close()


def test_a_gate_passes_in_a_container_of_its_own(sit: Sit) -> None:
    sitting = sit(SmallRun(files={"run.sh": says(PASSED, before="echo hello")}))
    result = sitting.once()
    assert (result.verdict, result.reason, result.exit_codes) == (Verdict.PASSED, None, (0,))
    assert sitting.output(result) == b"hello\n"
    assert result.engine.kind == "docker"
    assert not result.graded_on_host


def test_the_workspace_arrives_byte_for_byte_whatever_files_are_called(sit: Sit) -> None:
    files = {
        "a b.txt": "blank\r\n",
        "-rf": "dash",
        "new\nline": "odd",
        "quote'$x\"": "odd",
        "ünïcode/é": "ü",
        "bytes\udcff": "not UTF-8",
        "deep/" * 30 + "x" * 120: "long",
        "empty": "",
    }
    small = lists(files=files, start=files)
    sitting = sit(small)
    found, _, user, _ = listing(sitting.output(sitting.once()))
    assert {name: sha1 for name, (_, sha1) in found.items()} == {
        name: git_blob(text) for name, text in files.items()
    }
    assert user == 0


def test_links_and_executables_stay_what_they_are(sit: Sit) -> None:
    def odd(workspace: Path) -> None:
        (workspace / "tool").chmod(0o755)
        (workspace / "link").symlink_to("tool")
        (workspace / "out").symlink_to("/etc/passwd")

    small = lists(files={"tool": "x"}, change=odd)
    sitting = sit(small)
    found, _, _, _ = listing(sitting.output(sitting.once()))
    assert found == {
        "tool": ["x", git_blob("x")],
        "link": ["link", git_blob("tool")],
        "out": ["link", git_blob("/etc/passwd")],
    }


def test_only_what_differs_from_the_image_is_sent_and_the_rest_is_right(
    sit: Sit, image_of: Callable[..., str]
) -> None:
    start = {
        "same": "1",
        "changed": "old",
        "gone": "1",
        "gone folder/a": "1",
        "kept folder/gone": "1",
        "kept folder/kept": "1",
        "file then folder": "1",
        "folder then file/a": "1",
        "it's": "1",
    }
    end = {
        "same": "1",
        "changed": "new",
        "kept folder/kept": "1",
        "file then folder/a": "2",
        "folder then file": "2",
        "added": "3",
    }
    ref = image_of({**start, "built.pyc": "left by the build"})
    small = lists(start=start, files=end, image={"ref": ref})
    sitting = sit(small)
    tree = sitting.reruns.target("S0").tree
    small.image = {"ref": ref, "base_tree": tree}
    again = sit(small)
    for where in (sitting, again):
        found, empty, _, _ = listing(where.output(where.once()))
        expected = {**end, "built.pyc": "left by the build"}
        assert {n: sha1 for n, (_, sha1) in found.items()} == {
            name: git_blob(text) for name, text in expected.items()
        }
        assert not empty
    job = again.reruns.store.all()[-1]
    origins = {o.path: o.origin.value for o in again.reruns.store.origins(job)}
    assert origins["same"] == "start"
    assert origins["changed"] == origins["added"] == "agent"


def test_hidden_files_lie_over_the_agents_own(sit: Sit) -> None:
    small = SmallRun(
        files={
            "hidden.sh": "echo the agent's; exit 1",
            "run.sh": says(PASSED, before=". ./hidden.sh"),
        },
        overlay={"hidden.sh": "echo hidden\n"},
    )
    sitting = sit(small)
    result = sitting.once()
    assert (sitting.output(result), result.verdict) == (b"hidden\n", Verdict.PASSED)
    origins = {o.path: (o.origin.value, o.hash) for o in sitting.reruns.store.origins(result)}
    assert origins["hidden.sh"] == ("overlay", hashlib.sha256(b"echo hidden\n").hexdigest())
    assert origins["run.sh"][0] == "agent"


@pytest.mark.parametrize("user", ["1000:1000", "1000", "nobody"])
def test_another_user_than_root_owns_the_workspace_and_may_write(sit: Sit, user: str) -> None:
    small = SmallRun(
        command=("sh", "-c", "touch new a/new && rm new a/new a/b && python3 list.py"),
        files={"a/b": "1", "list.py": LISTING},
        report=None,
        user=user,
    )
    sitting = sit(small)
    found, _, uid, owner = listing(sitting.output(sitting.once()))
    assert uid == owner != 0
    assert list(found) == ["list.py"]


def test_there_is_no_network_and_no_way_to_more_rights(sit: Sit) -> None:
    code = (
        "import socket, os\n"
        "print(sorted(os.listdir('/sys/class/net')))\n"
        "s = socket.socket(); s.settimeout(2)\n"
        "try: s.connect(('192.0.2.1', 80)); print('connected')\n"
        "except OSError as e: print('no network')\n"
        "print(socket.gethostbyname('localhost'))\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.split('NoNewPrivs:')[1].split()[0], status.split('CapEff:')[1].split()[0])\n"
    )
    sitting = sit(SmallRun(command=("python3", "-c", code), report=None, user="1000:1000"))
    said = sitting.output(sitting.once()).decode().splitlines()
    assert said == ["['lo']", "no network", "127.0.0.1", "1 0000000000000000"]


def test_the_machine_has_its_own_name_in_every_rerun_of_a_state(sit: Sit) -> None:
    """Also once all files of the gate are in an image."""
    code = "import socket; print(socket.gethostbyname('localhost'))"
    sitting = sit(SmallRun(command=("python3", "-c", code), report=None, user="1000:1000"))
    said = [sitting.output(sitting.once()) for _ in range(USES + 2)]
    assert said == [b"127.0.0.1\n"] * (USES + 2)


def test_a_pytest_that_is_ended_by_a_test_names_the_test(sit: Sit) -> None:
    tests = "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): pass\n"
    small = SmallRun(
        command=("python3", "-m", "pytest", "-q", "--junitxml=report.xml", "t.py"),
        files={"t.py": tests},
        report="report.xml",
        f2p=("t.py::test_a", "t.py::test_b", "t.py::test_c"),
    )
    result = sit(small).once()
    assert result.verdict is Verdict.FAILED
    assert result.reason == "ended while t.py::test_b was running (exit 0)"
    assert [t.outcome for t in result.tests] == [
        Outcome.PASSED,
        Outcome.NOT_RUN,
        Outcome.NOT_RUN,
    ]
    assert any("read from the log of single tests" in note for note in result.notes)


def test_a_pytest_that_tests_start_does_not_write_into_our_log(sit: Sit) -> None:
    tests = (
        "import subprocess, sys\n"
        "def test_a():\n"
        "    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', 'inner.py'])\n"
        "    assert done.returncode == 0\n"
        "def test_b(): pass\n"
    )
    small = SmallRun(
        command=("python3", "-m", "pytest", "-q", "--junitxml=report.xml", "t.py"),
        files={"t.py": tests, "inner.py": "def test_inner(): pass\n"},
        report="report.xml",
    )
    result = sit(small).once()
    assert (result.verdict, result.reason) == (Verdict.PASSED, None)
    (stream,) = [path for path in result.logs if path.name == "report-stream.jsonl"]
    assert b"test_b" in stream.read_bytes()
    assert b"test_inner" not in stream.read_bytes()


def test_a_state_that_is_run_on_often_gets_an_image_and_stays_right(
    sit: Sit, image_of: Callable[..., str], engine_host: str
) -> None:
    ref = image_of({"gone": "1", "same": "1"})
    small = lists(start={"gone": "1", "same": "1"}, files={"same": "1", "new": "2"})
    small.image = {"ref": ref}
    sitting = sit(small)
    outputs = [sitting.output(sitting.once()) for _ in range(USES + 2)]
    assert len(set(outputs)) == 1
    assert set(listing(outputs[0])[0]) == {"same", "new"}
    client = docker.DockerClient(base_url=engine_host, timeout=30)
    made = client.images.list(REPOSITORY)
    assert made
    client.close()


def test_an_image_with_volumes_works_and_its_volumes_go(
    sit: Sit, image_of: Callable[..., str], engine_host: str
) -> None:
    ref = image_of({"old": "1"}, ("VOLUME /repo", "VOLUME /data"))
    sitting = sit(lists(files={"new": "2"}, image={"ref": ref}))
    client = docker.DockerClient(base_url=engine_host, timeout=30)
    for _ in range(USES + 1):
        found, _, _, _ = listing(sitting.output(sitting.once()))
        assert set(found) == {"new"}
    client.close()


def test_a_report_in_the_temporary_folder_comes_out(sit: Sit) -> None:
    text = f"cat >/tmp/report.json <<'END'\n{PASSED}\nEND\n"
    result = sit(SmallRun(files={"run.sh": text}, report="/tmp/report.json")).once()
    assert (result.verdict, result.reason) == (Verdict.PASSED, None)
    assert any("/tmp is on the disk" in note for note in result.notes)


def test_a_flaky_test_is_counted_and_not_called_stable(sit: Sit) -> None:
    text = (
        f"if [ $(( $(date +%N | sed 's/^0*//') / 1000 % 2 )) = 0 ]; then\n"
        f"cat >report.json <<'END'\n{PASSED}\nEND\nexit 0; fi\n{says(FAILED, 1)}"
    )
    sitting = sit(SmallRun(files={"run.sh": text}))
    target = sitting.reruns.target("S1")
    results = sitting.reruns.run("1", target, times=12)
    found = sitting.reruns.flakiness(results)
    passed = sum(r.verdict is Verdict.PASSED for r in results)
    assert found.attempts == 12
    assert found.ok["t.py::test_b"] == passed
    assert found.flaky == (("t.py::test_b",) if 0 < passed < 12 else ())


class TestImages:
    def test_one_that_is_not_there_is_said_in_one_line(self, sit: Sit) -> None:
        sitting = sit(SmallRun(image={"ref": "no-such-image:1"}))
        with pytest.raises(ImageRefusedError, match=r"image no-such-image:1 is not on this engine"):
            sitting.once()

    def test_none_is_recorded(self, sit: Sit) -> None:
        sitting = sit(SmallRun(image={}))
        with pytest.raises(ImageRefusedError, match="names no image"):
            sitting.once()

    def test_the_recorded_digest_decides(
        self, sit: Sit, gate_image: Callable[[str], str], engine_host: str
    ) -> None:
        ref = gate_image("python")
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        digest = client.images.get(ref).id
        client.close()
        files = {"run.sh": says(PASSED)}
        result = sit(SmallRun(files=files, image={"ref": ref, "digest": digest})).once()
        assert (result.image_digest, result.verdict) == (digest, Verdict.PASSED)
        moved = SmallRun(files=files, image={"ref": "moved:1", "digest": digest})
        assert sit(moved).once().verdict is Verdict.PASSED

    def test_another_of_the_same_name_is_refused_unless_allowed(
        self, sit: Sit, gate_image: Callable[[str], str]
    ) -> None:
        image = {"ref": gate_image("python"), "digest": "sha256:" + "0" * 64}
        small = SmallRun(files={"run.sh": says(PASSED)}, image=image)
        with pytest.raises(ImageRefusedError, match="the run recorded sha256:000000000000"):
            sit(small).once()
        result = sit(small, allow_other_image=True).once()
        assert result.verdict is Verdict.PASSED
        assert result.image_digest != image["digest"]
        assert any("another image" in note for note in result.notes)

    def test_pulling_says_what_the_registry_says(self, sit: Sit) -> None:
        sitting = sit(SmallRun(image={"ref": "localhost:1/none:1"}), pull=True)
        with pytest.raises(ImageRefusedError, match="cannot be pulled"):
            sitting.once()

    def test_one_without_a_shell_is_unmeasured(self, sit: Sit, engine_host: str) -> None:
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("nothing"))
        client.api.import_image_from_data(out.getvalue(), repository="arcview-test-empty", tag="1")
        try:
            result = sit(SmallRun(image={"ref": "arcview-test-empty:1"})).once()
        finally:
            client.images.remove("arcview-test-empty:1", force=True)
            client.close()
        assert result.verdict is Verdict.UNMEASURED
        assert (result.reason or "").startswith("the container could not be started")
