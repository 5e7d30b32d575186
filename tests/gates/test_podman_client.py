"""What Podman does otherwise than Docker, played by a client that answers as its service did."""

from __future__ import annotations

import io
import socket
import struct
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from arcview.gates.docker_engine import connect, engine
from arcview.gates.docker_engine.stage_images import StageImages
from arcview.gates.script import RESULTS, STEPS_FILE, report_name
from arcview.model.results import Verdict
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from tests.gates.small_run import PASSED, SmallRun

IMAGE = {"Id": "sha256:" + "1" * 64, "Config": {}}
STATES = ("running", "running", "stopped", "stopped", "exited")


class Answer:
    """Of a question by HTTP, where there is nothing."""

    ok = False
    headers: Mapping[str, str] = {}


class Podman:
    """One container that prints a line and ends; it lags behind in what it says of it."""

    api_version, base_url, timeout = "1.41", "http://podman", 1

    def __init__(self, states: tuple[str, ...] = STATES) -> None:
        self.states = list(states)
        self.status = "created"
        self.puts = 0
        self.removed: list[str] = []
        self._here, self._there = socket.socketpair()

    def info(self) -> dict[str, Any]:
        return {"NCPU": 2, "SecurityOptions": ["name=seccomp"]}

    def version(self) -> dict[str, Any]:
        return {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]}

    def inspect_image(self, name: str) -> dict[str, Any]:
        if name.startswith("arcview/stage"):
            raise NotFound("no such image")
        return IMAGE

    def containers(self, **_: object) -> list[dict[str, Any]]:
        return []

    def images(self, _: str) -> list[dict[str, Any]]:
        return [{"RepoTags": ["docker.io/arcview/stage:a"]}, {"RepoTags": None}]

    def create_host_config(self, **settings: object) -> dict[str, object]:
        return settings

    def create_container(self, *_: object, **__: object) -> dict[str, str]:
        return {"Id": "c"}

    def head(self, *_: object, **__: object) -> Answer:
        return Answer()

    def put_archive(self, _id: str, _path: str, stream: Any) -> None:
        self.puts += 1
        sent = stream.read()
        assert len(sent) == len(stream)
        if self.puts == 1:
            raise APIError("write |1: broken pipe")

    def attach_socket(self, *_: object, **__: object) -> socket.socket:
        return self._here

    def start(self, _: str) -> None:
        self.status = "running"
        self._there.sendall(struct.pack(">B3xL", 1, 4) + b"out\n")
        self._there.close()

    def inspect_container(self, _: str) -> dict[str, Any]:
        if len(self.states) > 1:
            self.status = self.states.pop(0)
        else:
            self.status = self.states[0]
        return {"State": {"Status": self.status, "Running": self.status == "running"}}

    def kill(self, _: str) -> None:
        self.states = ["stopped", "exited"]

    def get_archive(self, _: str, path: str) -> tuple[Iterator[bytes], dict[str, Any]]:
        if path != RESULTS:
            raise NotFound("no such path")
        if self.status != "exited":
            return (b for b in (b"",)), {}
        out = io.BytesIO()
        steps = b"begin 0 0\nend 0 0 0\ndone\n"
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, data in ((STEPS_FILE, steps), (report_name(1), PASSED.encode())):
                member = tarfile.TarInfo(f"res/{name}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return (b for b in (out.getvalue(),)), {}

    def remove_container(self, name: str, **_: object) -> None:
        self.removed.append(name)

    def close(self) -> None:
        self._here.close()
        self._there.close()


def reruns(podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reruns:
    for module in (connect, engine):
        monkeypatch.setattr(module, "APIClient", lambda **_: podman)
    run = SmallRun(image={"ref": "image:1"}).write(tmp_path)
    options = RerunOptions(engine="tcp://podman:1")
    return Reruns(OpenRun.open(run), sidecar=tmp_path / "sidecar", options=options)


def test_results_are_waited_for_until_podman_has_let_go_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    podman = Podman()
    sitting = reruns(podman, tmp_path, monkeypatch)
    result = sitting.run("1", sitting.target("S1"))[-1]
    sitting.close()
    assert (result.verdict, result.reason, result.notes) == (Verdict.PASSED, None, ())
    assert result.engine.kind == "podman"
    assert (podman.puts, podman.removed) == (2, ["c"])


def test_a_stream_that_ends_long_before_its_container_is_called_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = reruns(Podman(("running",) * 10 + STATES), tmp_path, monkeypatch)
    monkeypatch.setattr("arcview.gates.docker_engine.container._PODMAN_LATE_S", 0.2)
    result = sitting.run("1", sitting.target("S1"))[-1]
    sitting.close()
    assert result.verdict is Verdict.PASSED
    assert result.notes == ("the output ended early: its end is lost",)


def test_stage_images_of_an_earlier_sitting_are_found_under_podmans_names() -> None:
    class Stages(Podman):
        def inspect_image(self, name: str) -> dict[str, Any]:
            return {**IMAGE, "name": name}

        def tag(self, *_: object) -> None:
            pass

    client: Any = Stages()
    stages = StageImages()
    assert stages.find(client, "a") == IMAGE["Id"]
    assert stages.find(client, "b") is None
    client.close()


class Volumes(Podman):
    """Has an image with a volume at its workspace, which is empty until a start."""

    sent = b""

    def inspect_image(self, name: str) -> dict[str, Any]:
        return {**super().inspect_image(name), "Config": {"Volumes": {"/repo": {}}}}

    def post(self, url: str, json: Mapping[str, Any], timeout: float) -> Answer:
        assert url.endswith("/libpod/containers/create")
        assert json["image_volume_mode"] == "ignore"
        assert json["labels"] == {"a label": "of ours"}
        return Made()

    def put_archive(self, _id: str, _path: str, stream: Any) -> None:
        self.sent = stream.read()

    def inspect_container(self, name: str) -> dict[str, Any]:
        about = super().inspect_container(name) if self.sent else {}
        return {**about, "Config": {"Labels": {"a label": "of ours"}}}

    def get_archive(self, name: str, path: str) -> tuple[Iterator[bytes], dict[str, Any]]:
        if path != "/repo":
            return super().get_archive(name, path)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            if name == "without volumes":
                archive.addfile(tarfile.TarInfo("repo/of-the-image"))
        return (b for b in (out.getvalue(),)), {}


class Made(Answer):
    """Of Podman, that it made a container."""

    ok = True

    def json(self) -> dict[str, str]:
        return {"Id": "without volumes"}


def test_files_of_the_image_that_the_state_lacks_go_though_a_volume_hides_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    podman = Volumes()
    sitting = reruns(podman, tmp_path, monkeypatch)
    result = sitting.run("1", sitting.target("S1"))[-1]
    sitting.close()
    assert (result.verdict, result.reason) == (Verdict.PASSED, None)
    assert b"of-the-image" in podman.sent
    assert podman.removed == ["without volumes", "c"]
