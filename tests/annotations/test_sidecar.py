"""Where what arcview adds to a run is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.sidecar import run_sidecar, sidecar_root


def test_a_flag_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCVIEW_SIDECAR", "/team")
    assert sidecar_root(Path("/mine")) == Path("/mine")
    assert sidecar_root() == Path("/team")


def test_the_default_is_the_data_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCVIEW_SIDECAR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert sidecar_root() == Path("/data/arcview/sidecar")


def test_a_relative_data_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCVIEW_SIDECAR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert sidecar_root() == Path.home() / ".local" / "share" / "arcview" / "sidecar"


@pytest.mark.parametrize("run_id", ["..", ".", "../../etc", "a/b", "", "x" * 500, "日本 \ud800"])
def test_a_run_id_cannot_lead_out_of_the_sidecar(tmp_path: Path, run_id: str) -> None:
    folder = run_sidecar(tmp_path, run_id)
    assert folder.parent == tmp_path
    folder.mkdir()
    assert folder.resolve().parent == tmp_path.resolve()


def test_two_run_ids_have_two_folders(tmp_path: Path) -> None:
    names = {run_sidecar(tmp_path, run_id) for run_id in ("a/b", "a%2Fb", "x" * 200, "x" * 201)}
    assert len(names) == 4
