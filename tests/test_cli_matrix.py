"""`arcview matrix` and `arcview whatif`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from arcview import cli
from arcview.gates import engines
from arcview.gates.errors import EngineUnavailableError
from arcview.gates.sealed import sealed
from arcview.model.results import Outcome
from arcview.schema import json_schemas
from arcview.session.opened import OpenRun
from tests.gates.fake_engine import FakeEngine, Play

Capture = pytest.CaptureFixture[str]


class Played:
    """An engine that says what is recorded, and passes everything else but what is told."""

    def __init__(self, run: Path) -> None:
        self.opened = OpenRun.open(run)
        self.told: dict[str, Play | Mapping[str, str]] = {}
        self.engine = FakeEngine(self._script)

    def recorded(self, gate: str, state: str) -> dict[str, str]:
        tests = self.opened.reader().gate_tests(gate, state)
        return {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}

    def _script(self, gate: str, label: str, tree: str) -> Play | Mapping[str, str]:
        if label in self.told:
            return self.told[label]
        if self.opened.run.gate(gate, label) is not None:
            return self.recorded(gate, label)
        from arcview.gates.definition import gate_definition

        return dict.fromkeys(gate_definition(self.opened.run, gate).expected_ids, "passed")


@pytest.fixture
def played(demo_run: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    played = Played(demo_run)
    monkeypatch.setattr(engines, "open_engine", lambda *_: played.engine)
    return played


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object) -> None:
        raise EngineUnavailableError("no container engine answers; start one")

    monkeypatch.setattr(engines, "open_engine", unavailable)


def printed(capsys: Capture, name: str) -> Any:
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(json_schemas()[name]).validate(found)
    return found


@pytest.mark.usefixtures("no_engine")
def test_what_is_known_is_printed_without_an_engine(demo_run: Path, capsys: Capture) -> None:
    assert cli.main(["matrix", str(demo_run)]) == 0
    out = capsys.readouterr().out
    assert "S2.refactor" in out
    assert "[✓]" in out
    assert "✗≈" in out
    assert "≈ derived from tests that other gates repeat  ~ flaky" in out
    assert "healed: 3\n" in out
    assert "missing: 37 cells and 5 controls before them" in out
    assert cli.main(["matrix", str(demo_run), "--json"]) == 0
    found = printed(capsys, "matrix")
    assert (found["schema"], found["measured_now"]) == ("arcview/matrix/1", None)
    assert len(found["cells"]) == len(found["gates"]) * len(found["states"])


@pytest.mark.usefixtures("no_engine")
def test_to_measure_without_an_engine_is_one_line_and_exits_3(
    demo_run: Path, capsys: Capture
) -> None:
    assert cli.main(["matrix", str(demo_run), "--run", "--yes"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "no container engine answers" in captured.err


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize(
    "command",
    [("matrix", "--run"), ("whatif", "--gate", "2"), ("whatif", "--gate", "2", "--yes")],
)
def test_nobody_is_asked_about_what_cannot_be_run(
    command: tuple[str, ...], demo_run: Path, capsys: Capture
) -> None:
    assert cli.main([command[0], str(demo_run), *command[1:]]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "arcview: no container engine answers; start one\n"


def test_whoever_is_asked_sees_what_would_run(
    played: Played, demo_run: Path, capsys: Capture
) -> None:
    assert cli.main(["matrix", str(demo_run), "--run"]) == 2
    err = capsys.readouterr().err
    assert "to measure in containers: 37 cells" in err
    assert "command  python -m pytest" in err
    assert cli.main(["whatif", str(demo_run), "--gate", "2"]) == 2
    err = capsys.readouterr().err
    assert "to run gate 2 in containers, up to 11 times" in err
    assert "limits   2 cpus" in err
    assert played.engine.jobs == []


def test_nothing_is_run_unasked(played: Played, demo_run: Path, capsys: Capture) -> None:
    assert cli.main(["matrix", str(demo_run), "--run"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert cli.main(["whatif", str(demo_run), "--gate", "2"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert played.engine.jobs == []


def test_missing_cells_are_measured_and_the_rest_is_left(
    played: Played, demo_run: Path, capsys: Capture
) -> None:
    asked = ["matrix", str(demo_run), "--run", "--yes", "--gate", "2", "--state", "S0", "--json"]
    assert cli.main(asked) == 0
    found = printed(capsys, "matrix")
    assert found["measured_now"]["measured"] == 1
    assert found["missing"]["cells"] == []
    cell = next(c for c in found["cells"] if (c["gate"], c["state"]) == ("2", "S0"))
    assert (cell["source"], cell["runs"]) == ("rerun", 1)
    assert cli.main(asked) == 0
    assert printed(capsys, "matrix")["measured_now"] is None


def test_a_failing_control_exits_3_and_says_why(
    played: Played, demo_run: Path, capsys: Capture
) -> None:
    played.told["R2"] = played.recorded("2", "S2")
    asked = ["matrix", str(demo_run), "--run", "--yes", "--gate", "2", "--state", "S0"]
    assert cli.main(asked) == 3
    captured = capsys.readouterr()
    assert "the control fails" in captured.err
    assert "gate 2: reruns are not believed" in captured.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["matrix", "RUN", "--gate", "9"], "--gate 9: the run has 1, 2, 3, 4, chain"),
        (["matrix", "RUN", "--state", "S9"], "--state S9: the run has S0, S1"),
        (["matrix", "RUN", "--jobs", "0"], "--jobs 0: expected 1 to 64"),
        (["whatif", "RUN", "--gate", "9"], "--gate 9: the run has 1, 2, 3, 4, chain"),
        (["matrix", "RUN", "--engine", "moby"], "--engine moby: expected auto, host, or a URL"),
        (["whatif", "RUN", "--gate", "1"], "gate 1 passed: what-if explains a gate that failed"),
        (["whatif", "RUN", "--gate", "2", "--times", "0"], "--times 0: expected 1 to 100"),
        (["whatif", "RUN"], "--gate"),
    ],
)
def test_odd_arguments_are_one_line(
    arguments: list[str], said: str, demo_run: Path, capsys: Capture
) -> None:
    assert cli.main([str(demo_run) if part == "RUN" else part for part in arguments]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert said in err


def test_what_if_prints_its_label_and_keeps_it(
    played: Played, demo_run: Path, capsys: Capture
) -> None:
    played.told["Y2"] = played.recorded("2", "S2")
    assert cli.main(["whatif", str(demo_run), "--gate", "2", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("gate 2: base (inherited")
    assert "grade A" in out
    count = len(played.engine.jobs)
    assert cli.main(["whatif", str(demo_run), "--gate", "2", "--json"]) == 0
    found = printed(capsys, "whatif")
    assert (found["label"], found["steady"]) == ("base", True)
    assert len(played.engine.jobs) == count


def test_an_answer_copied_from_another_question_is_named_and_asked_anew(
    played: Played, demo_run: Path, tmp_path: Path, capsys: Capture
) -> None:
    asked = ["whatif", str(demo_run), "--gate", "2", "--times", "1", "--yes"]
    assert cli.main([*asked, "--sidecar", str(tmp_path / "one")]) == 0
    (kept,) = (tmp_path / "one").rglob("what-if/*/1.json")
    copy = tmp_path / "two" / kept.relative_to(tmp_path / "one")
    copy.parent.mkdir(parents=True)
    values = json.loads(kept.read_text())
    del values["checksum"]
    copy.write_bytes(sealed(values | {"key": "2-of-another"}))
    capsys.readouterr()
    ran = len(played.engine.jobs)
    assert cli.main([*asked, "--sidecar", str(tmp_path / "two")]) == 0
    assert "1.json: copied or moved from another question; not used" in capsys.readouterr().err
    assert len(played.engine.jobs) > ran


def test_what_cannot_be_told_exits_3(played: Played, demo_run: Path, capsys: Capture) -> None:
    assert cli.main(["whatif", str(demo_run), "--gate", "4", "--yes", "--json"]) == 3
    found = printed(capsys, "whatif")
    assert (found["label"], found["x"]) == ("undetermined", None)


def test_rows_that_cannot_be_rerun_share_one_line(
    scb: Callable[[str], Path], cases: Path, capsys: Capture
) -> None:
    names = sorted(path.name.removesuffix(".tar.xz") for path in (cases / "scb").glob("*.tar.xz"))
    assert cli.main(["matrix", str(scb(names[0]))]) == 0
    out = capsys.readouterr().out
    assert out.count("cannot be rerun: ") == 1
    assert "gates 1, 2, 3" in out


@pytest.mark.parametrize("command", ["matrix", "whatif"])
def test_help_has_examples(command: str, capsys: Capture) -> None:
    assert cli.main([command, "--help"]) == 0
    assert "examples:" in capsys.readouterr().out
