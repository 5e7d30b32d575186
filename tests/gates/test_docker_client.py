"""How an engine is found, what it says of its limits, and what is said where there is none."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from arcview.gates.docker_engine import connect, open_docker
from arcview.gates.docker_engine.limits import limits_of, notes_of
from arcview.gates.docker_engine.ssh_socket import SshSocket
from arcview.gates.engines import open_engine
from arcview.gates.errors import EngineUnavailableError


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))


def test_nothing_is_there(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError) as caught:
        open_docker(f"unix://{tmp_path}/none.sock")
    said = str(caught.value)
    assert said.startswith(f"no container engine answers at unix://{tmp_path}/none.sock")
    assert "No such file or directory" in said
    assert "--engine" in said
    assert "\n" not in said


def test_something_else_listens_there(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("no socket")
    with pytest.raises(EngineUnavailableError, match="no container engine answers"):
        open_docker(f"unix://{path}")


def test_the_environment_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/named.sock")
    with pytest.raises(EngineUnavailableError, match=r"named\.sock"):
        open_engine("auto")


def test_a_runtime_folder_of_the_user_is_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_SYSTEM_SOCKET", tmp_path / "none.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "docker.sock"))
        with pytest.raises(EngineUnavailableError, match=str(tmp_path)):
            open_engine("auto")


def write_context(folder: Path, name: str, host: str) -> None:
    meta = folder / "docker/contexts/meta" / hashlib.sha256(name.encode()).hexdigest()
    meta.mkdir(parents=True)
    endpoint = {"Host": host, "SkipTLSVerify": False}
    about = {"Name": name, "Metadata": {}, "Endpoints": {"docker": endpoint}}
    (meta / "meta.json").write_text(json.dumps(about), encoding="utf-8")


def test_a_context_of_the_environment_goes_before_the_one_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        write_context(tmp_path, name, f"unix://{tmp_path}/{name}.sock")
    settings = {"currentContext": "one"}
    (tmp_path / "docker/config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(EngineUnavailableError, match=r"one\.sock"):
        open_engine("auto")
    monkeypatch.setenv("DOCKER_CONTEXT", "two")
    with pytest.raises(EngineUnavailableError, match=r"two\.sock"):
        open_engine("auto")


def test_a_context_that_is_not_there_is_no_reason_to_take_another_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_CONTEXT", "nonsense")
    with pytest.raises(EngineUnavailableError, match="Docker context nonsense"):
        open_engine("auto")


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:99999", "tcp://[::1", "http://[::1"])
def test_an_address_that_nothing_can_be_at_is_said(url: str) -> None:
    with pytest.raises(EngineUnavailableError, match="no container engine answers"):
        open_docker(url)


def test_missing_certificates_are_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path / "none"))
    with pytest.raises(EngineUnavailableError, match="DOCKER_TLS_VERIFY") as caught:
        open_engine("auto")
    assert str(tmp_path / "none") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["nonsense", "ftp://host", "/var/run/docker.sock"])
def test_what_is_no_url_is_said(url: str) -> None:
    with pytest.raises(EngineUnavailableError, match="not a URL such as unix"):
        open_docker(url)


@pytest.mark.usefixtures("ssh")
def test_a_host_that_looks_like_an_option_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with pytest.raises(EngineUnavailableError, match="no name of a host"):
        open_docker("ssh://-oProxyCommand=true")
    assert not list((tmp_path / "temporary").iterdir())


def test_a_rootless_engine_that_ignores_limits_says_so() -> None:
    info = {
        "MemoryLimit": False,
        "PidsLimit": False,
        "CpuCfsQuota": False,
        "CgroupDriver": "none",
        "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"],
    }
    enforced, ignored = limits_of(info)
    assert set(ignored) == {"memory", "pids", "cpus"}
    assert not set(enforced) & set(ignored)
    assert "a rootless engine" in notes_of(info)


def test_an_engine_with_all_limits_ignores_none() -> None:
    info: dict[str, object] = {
        "MemoryLimit": True,
        "SwapLimit": True,
        "PidsLimit": True,
        "CpuCfsQuota": True,
        "CgroupDriver": "cgroupfs",
        "SecurityOptions": ["name=seccomp,profile=default"],
    }
    assert limits_of(info)[1] == ()
    assert notes_of(info) == ()
    assert "memory" in limits_of(info | {"MemoryLimit": False})[1]
    assert notes_of(info | {"SecurityOptions": []}) == ("no seccomp profile",)


FORWARD = """\
#!{python}
import os, socket, sys, threading
local, remote = sys.argv[sys.argv.index("-L") + 1].split(":")
if sys.argv[-1] != "user@far":
    sys.exit("ssh: Could not resolve hostname " + sys.argv[-1])
with open(sys.argv[0] + ".said", "w") as said:
    print(os.getpgid(0), *sys.argv[1:], file=said)
def pump(a, b):
    while data := a.recv(1 << 16):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
listener = socket.socket(socket.AF_UNIX)
listener.bind(local)
listener.listen()
while True:
    near, _ = listener.accept()
    far = socket.socket(socket.AF_UNIX)
    far.connect(os.environ["FAR_SOCKET"])
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""
"""Stands in for ssh: forwards one socket to another."""


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(FORWARD.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.mark.usefixtures("ssh")
def test_an_engine_behind_ssh_is_reached_through_a_forwarded_socket(
    engine_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_SOCKET", engine_host.removeprefix("unix://"))
    engine = open_docker("ssh://user@far:2222/run/far.sock")
    assert (engine.info().kind, engine.info().endpoint) == (
        "docker",
        "ssh://user@far:2222/run/far.sock",
    )
    assert engine.reap() >= 0
    engine.close()


def test_the_ssh_outlives_a_control_c_and_is_no_part_of_a_connection_that_outlives_it(
    ssh: Path,
) -> None:
    forward = SshSocket("ssh://user@far")
    group, *arguments = ssh.with_name("ssh.said").read_text().split()
    forward.close()
    assert int(group) != os.getpgid(0)
    assert "ControlPath=none" in arguments


@pytest.mark.usefixtures("ssh")
def test_an_ssh_that_cannot_connect_says_what_it_said() -> None:
    with pytest.raises(EngineUnavailableError, match="Could not resolve hostname nobody"):
        open_docker("ssh://nobody")


def test_without_an_ssh_program_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailableError, match="the ssh program is needed"):
        open_docker("ssh://user@far")
