from __future__ import annotations

from pathlib import Path

from arcview.model.problem import Problem
from arcview.readers.fields import Fields
from arcview.readers.runs.native_folder import Folder
from arcview.readers.runs.native_overlay import laid_files


def laid(root: Path, gate: dict[str, object]) -> tuple[list[str], list[str]]:
    """The paths in the workspace, and what is wrong."""
    problems: list[Problem] = []
    entry = Fields("chain.json", gate, problems, "gates[0]")
    files = laid_files(entry, Folder(root, "chain/", problems), "1")
    assert all(file.place.endswith(f"gates/1/overlay/{file.path}") for file in files)
    return [file.path for file in files], [f"{p.where}: {p.what}" for p in problems]


def test_listed_files_have_plain_paths_that_stay_in_the_workspace(tmp_path: Path) -> None:
    paths = ("./t.py", "a//b.py", "../x.py", "/x.py", ".", "", "x\0y")
    found, problems = laid(tmp_path, {"overlay": [{"path": path} for path in paths]})
    assert found == ["t.py", "a/b.py"]
    assert problems == [
        "chain.json: gates[0].overlay[2].path: '../x.py' leaves its folder",
        "chain.json: gates[0].overlay[3].path: '/x.py' leaves its folder",
        "chain.json: gates[0].overlay[4].path: '.' leaves its folder",
        "chain.json: gates[0].overlay[5].path: expected a path",
        "chain.json: gates[0].overlay[6].path: expected a path",
    ]


def test_without_a_list_all_files_of_the_folder_are_laid_and_an_empty_list_lays_none(
    tmp_path: Path,
) -> None:
    for name in ("b.py", "tests/a.py"):
        file = tmp_path / "gates/1/overlay" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    assert laid(tmp_path, {}) == (["b.py", "tests/a.py"], [])
    assert laid(tmp_path, {"overlay": None}) == (["b.py", "tests/a.py"], [])
    assert laid(tmp_path, {"overlay": []}) == ([], [])
    assert laid(tmp_path / "nowhere", {}) == ([], [])
