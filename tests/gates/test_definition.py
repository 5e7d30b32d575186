from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.gates.definition import GateDefinition, gate_definition, rerunnable_gates
from arcview.gates.errors import CannotRerunError
from arcview.readers.registry import open_run
from tests.gates.small_run import SmallRun


def definition(tmp_path: Path, small: SmallRun) -> GateDefinition:
    return gate_definition(open_run(small.write(tmp_path)).run, "1")


def edited(tmp_path: Path, edit: Callable[[dict[str, Any]], None]) -> GateDefinition:
    run = SmallRun(overlay={"t.py": "hidden"}).write(tmp_path)
    path = run / "chain" / "chain.json"
    chain = json.loads(path.read_text())
    edit(chain)
    path.write_text(json.dumps(chain))
    return gate_definition(open_run(run).run, "1")


def test_it_says_how_the_gate_is_run(tmp_path: Path) -> None:
    small = SmallRun(
        command=("pytest", "-q"),
        overlay={"tests/t.py": "hidden"},
        limits={"cpus": 1.5, "memory_mb": 512, "pids": 64},
        timeout_s=7,
        user="1000",
        image={"ref": "image:1", "digest": "sha256:" + "a" * 64, "base_tree": "b" * 40},
    )
    found = definition(tmp_path, small)
    assert (found.steps[0].command, found.user, found.timeout_s) == (("pytest", "-q"), "1000", 7)
    assert found.reports[0].path == "/repo/report.json"
    assert found.overlay[0].path == "tests/t.py"
    assert (found.limits.cpus, found.limits.memory_mb, found.limits.pids) == (1.5, 512, 64)
    assert (found.image_ref, found.image_base_tree) == ("image:1", "b" * 40)
    assert found.expected_ids == ("t.py::test_a", "t.py::test_b")


def test_the_digest_changes_with_what_decides_the_result_and_with_nothing_else(
    tmp_path: Path,
) -> None:
    def limits(chain: dict[str, Any]) -> None:
        chain["gates"][0]["limits"] = {"pids": 5}

    def env(chain: dict[str, Any]) -> None:
        chain["gates"][0]["steps"][0]["env"] = {"A": "1"}

    def expected(chain: dict[str, Any]) -> None:
        chain["gates"][0]["p2p"] = ["other"]

    def title(chain: dict[str, Any]) -> None:
        chain["title"] = "another title"
        chain["gates"][0]["steps"][0]["name"] = "another name"

    plain = edited(tmp_path / "0", lambda _: None).digest
    others = [edited(tmp_path / str(n), e).digest for n, e in enumerate((limits, env, expected), 1)]
    assert len({plain, *others}) == 4
    assert edited(tmp_path / "9", title).digest == plain


def _drop(*keys: str) -> Callable[[dict[str, Any]], None]:
    def edit(chain: dict[str, Any]) -> None:
        for key in keys[:-1]:
            chain = chain[int(key)] if key.isdecimal() else chain[key]  # type: ignore[index]
        chain.pop(keys[-1])

    return edit


def _users(chain: dict[str, Any]) -> None:
    step = chain["gates"][0]["steps"][0]
    chain["gates"][0]["steps"] = [step | {"user": "root"}, step | {"user": "tester"}]


def _other_hash(chain: dict[str, Any]) -> None:
    chain["gates"][0]["overlay"][0]["sha256"] = "0" * 64


def _gone(chain: dict[str, Any]) -> None:
    chain["gates"][0]["overlay"].append({"path": "none.py"})


def _leaves(chain: dict[str, Any]) -> None:
    chain["gates"][0]["overlay"][0]["path"] = "../../../../run.json"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (_drop("gates", "0", "steps"), "records no steps for it"),
        (_drop("workdir"), "workdir: expected the absolute path"),
        (_users, r"different users \(root, tester\)"),
        (_other_hash, "not the file that chain.json names"),
        (_gone, "none.py: the hidden test file is not there"),
        (_leaves, "leaves its folder"),
        (lambda chain: chain["gates"].clear(), "does not define it"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], why: str
) -> None:
    with pytest.raises(CannotRerunError, match=why) as caught:
        edited(tmp_path, edit)
    assert "\n" not in str(caught.value)


def test_only_gates_with_commands_can_be_rerun(tmp_path: Path, demo_run: Path) -> None:
    assert rerunnable_gates(open_run(demo_run).run) == ("1", "2", "3", "4", "chain")
    run = SmallRun(steps=[]).write(tmp_path)
    assert rerunnable_gates(open_run(run).run) == ()


GATE = ("gates", "0")
STEP = (*GATE, "steps", "0")


def _set(*place: str, to: object) -> Callable[[dict[str, Any]], None]:
    def edit(chain: dict[str, Any]) -> None:
        found: Any = chain
        for key in place[:-1]:
            found = found[int(key)] if key.isdecimal() else found[key]
        found[place[-1]] = to

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _set(*GATE, "steps", to=[{"command": ["true"]}, 5]),
        _set(*STEP, "command", to=["sh", 5, "run.sh"]),
        _set(*STEP, "command", to=["sh", "a\0b"]),
        _set(*STEP, "command", to=["\ud800"]),
        _set(*STEP, "command", to=[""]),
        _set(*STEP, "env", to=["A"]),
        _set(*STEP, "env", to={"A": 5}),
        _set(*STEP, "env", to={"A": None}),
        _set(*STEP, "env", to={"A": "x\0y"}),
        _set(*STEP, "env", to={"A": "\ud800"}),
        _set(*STEP, "env", to={"": "x"}),
        _set(*STEP, "env", to={"A=B": "x"}),
        _set(*STEP, "env", to={"A; touch x; B": "1"}),
        _set(*STEP, "env", to={"$(touch x)": "1"}),
        _set(*STEP, "env", to={"\ud800": "1"}),
        _set(*STEP, "user", to=5),
        _set(*STEP, "user", to="root; rm"),
        _set(*STEP, "user", to="--privileged"),
        _set(*STEP, "user", to="root\n"),
        _set(*STEP, "timeout_s", to=-1),
        _set(*STEP, "timeout_s", to=0),
        _set(*STEP, "timeout_s", to="60"),
        _set(*STEP, "timeout_s", to=1e308),
        _set(*STEP, "timeout_s", to=True),
        _set(*STEP, "build", to="yes"),
        _set("workdir", to="//"),
        _set("workdir", to="/a/.."),
        _set("workdir", to="/a\0b"),
        _set("workdir", to="/\ud800"),
        _set(*GATE, "reports", to="report.json"),
        _set(*GATE, "reports", to=[{}]),
        _set(*GATE, "reports", to=[{"path": ""}]),
        _set(*GATE, "reports", to=[{"path": "a\0b"}]),
        _set(*GATE, "reports", to=[{"path": "\ud800"}]),
        _set(*GATE, "overlay", to="t.py"),
        _set(*GATE, "overlay", to=[5]),
        _set(*GATE, "overlay", to=[{"path": "/t.py"}]),
        _set(*GATE, "overlay", to=[{"path": "."}]),
        _set(*GATE, "overlay", to=[{"path": "t.py", "sha256": 5}]),
        _set(*GATE, "limits", to={"cpus": 0}),
        _set(*GATE, "limits", to={"cpus": "2"}),
        _set(*GATE, "limits", to={"memory_mb": 0.5}),
        _set(*GATE, "limits", to={"memory_mb": -1}),
        _set(*GATE, "limits", to={"memory_mb": 1e300}),
        _set(*GATE, "limits", to={"pids": 0}),
        _set(*GATE, "limits", to={"pids": -1}),
        _set(*GATE, "f2p", to="t.py::test_a"),
        _set(*GATE, "f2p", to=["t.py::test_a", 5]),
        _set("image", to={"ref": "--privileged"}),
        _set("image", to={"ref": "../containers"}),
        _set("image", to={"ref": "a b"}),
        _set("image", to={"ref": "a", "digest": "a"}),
        _set("image", to={"ref": "a", "digest": "sha256:12"}),
        _set("image", to={"ref": "a", "base_tree": "--help"}),
        _set("image", to={"ref": "a", "base_tree": "x\0y"}),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_and_never_left_out(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None]
) -> None:
    with pytest.raises(CannotRerunError, match=r"^gate 1 cannot be rerun: .*chain\.json") as caught:
        edited(tmp_path, edit)
    assert str(caught.value).isprintable()


def test_places_are_read_in_their_plain_form(tmp_path: Path) -> None:
    found = edited(tmp_path / "0", _set(*GATE, "overlay", to=[{"path": "./t.py"}]))
    assert found.overlay[0].path == "t.py"
    assert edited(tmp_path / "1", _set("workdir", to="//repo/./")).workdir == "/repo"
