"""Reads one instance of a SWE-EVO inference folder: the result of one `claude -p`, its patch.

Layout: `infer/runs/<instance>/` with `cli_result.json`, `cli_stdout.log`, `patch.diff` and
`preds.json`. The grading lies in harness logs elsewhere; it is taken in where it is found above.
No steps are kept. Must not import pydantic.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_file
from arcview.model.problem import Problem
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.trajectory_refs import TrajectoryRef, Usage
from arcview.readers.fields import Fields, parse_json, read_bytes
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.runs.agent_logs import find_trajectories
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id
from arcview.readers.runs.harness_logs import grade_above
from arcview.readers.runs.instance_folder import patch_states, prediction_for
from arcview.readers.trajectories.claude_code_ends import main_loop_note, spent_in_all

LAYOUT = "swe_evo"
RESULT = "cli_result.json"
PATCH = "patch.diff"
_PREDICTIONS = "preds.json"


class SweEvoReader:
    """Reads `<instance>/cli_result.json` folders."""

    id = LAYOUT
    title = "SWE-EVO inference of one instance"

    def detect(self, path: Path) -> Detection | None:
        """Recognises the closing record of a client beside a patch or predictions."""
        others = [name for name in (PATCH, _PREDICTIONS) if is_file(path / name)]
        if not others:
            return None
        if _result(path, []) is not None:
            return Detection(self.id, f"{RESULT} of type result beside {others[0]}")
        if _is_damaged(path):
            return Detection(self.id, f"{RESULT}, which ends early, beside {others[0]}")
        return None

    def summarise(self, path: Path) -> Run:
        """The skeleton."""
        return AssembledRun(_read(path)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the instance."""
        return AssembledRun(_read(path))


def _result(path: Path, problems: list[Problem]) -> Fields | None:
    try:
        fields = Fields.json_file(inside(path, RESULT), RESULT, problems)
    except BadInputError:
        return None
    return fields if fields.values.get("type") == "result" else None


def _is_damaged(path: Path) -> bool:
    """Whether the record was begun and not written to its end."""
    try:
        data = read_bytes(inside(path, RESULT), RESULT)
        parse_json(data, RESULT)
    except BadInputError:
        return is_file(path / RESULT)
    return False


def _record(path: Path, problems: list[Problem]) -> Fields:
    """The closing record; empty, and a problem, where it is lost.

    Raises:
        BadInputError: nothing of an instance is there.
    """
    if not any(exists(path / name) for name in (RESULT, PATCH, _PREDICTIONS)):
        raise BadInputError(str(path), f"expected {RESULT}, {PATCH} or {_PREDICTIONS}")
    found = _result(path, problems)
    if found is not None:
        return found
    what = "not the closing record of a client; what it used and how it ended is unknown"
    problems.append(Problem(RESULT, what))
    return Fields(RESULT, {}, problems)


def _read(path: Path) -> Assembly:
    problems: list[Problem] = []
    result = _record(path, problems)
    absolute = path.absolute()
    instance = absolute.name
    found = prediction_for(absolute, instance, problems)
    prediction = found[0] if found is not None else None
    graded = grade_above(absolute, instance)
    root = graded.root
    stage = _stage(result, _refs(absolute, root))
    run = Run(
        run_id=derived_id(
            LAYOUT,
            [instance, result.text("session_id"), prediction.patch if prediction else None],
            [(name, path / name) for name in (RESULT, PATCH)],
        ),
        layout=LAYOUT,
        path=str(path),
        chain=Chain(task_id=instance),
        agent=(prediction.model if prediction is not None else None) or "claude_code",
        model=", ".join(result.sub("modelUsage").values) or None,
        harness="swe-evo",
        status=stage.status,
        status_detail=stage.status_detail,
        states=patch_states(path, PATCH, prediction, f"there is no {PATCH}"),
        stages=(stage,),
        gates=(graded.record,),
    )
    read = [path, *(path / name for name in (RESULT, PATCH, _PREDICTIONS)), *graded.read]
    tests, details = graded.by_gate()
    return Assembly(root, run, tests, details, read=read, problems=problems)


def _stage(result: Fields, trajectories: tuple[TrajectoryRef, ...]) -> Stage:
    status, detail = _status(result)
    usage, notes = _usage(result)
    milliseconds = result.number("duration_ms")
    return Stage(
        1,
        None,
        status,
        detail,
        base="S0",
        end="S1",
        duration_s=None if milliseconds is None else milliseconds / 1000,
        usage=usage,
        reported_steps=result.count("num_turns"),
        trajectories=trajectories,
        notes=notes,
    )


def _refs(path: Path, root: Path) -> tuple[TrajectoryRef, ...]:
    """A trajectory that somebody put beside the result; the client's own output has no steps."""
    prefix = path.relative_to(root).as_posix()
    return find_trajectories(root, prefix, without=(RESULT, "cli_stdout.log"))


def _status(result: Fields) -> tuple[Status, str | None]:
    if not result.values:
        return Status.UNKNOWN, None
    text = result.text("result")
    first_line = next(iter(text.strip().splitlines()), None) if text else None
    word = result.text("subtype")
    if result.flag("is_error"):
        return Status.AGENT_ERROR, first_line or word
    if word == "error_max_turns":
        return Status.INTERRUPTED, "stopped at the turn limit"
    return (Status.COMPLETED, None) if word == "success" else (Status.UNKNOWN, word)


def _usage(result: Fields) -> tuple[Usage | None, tuple[str, ...]]:
    """What the client added up."""
    usage = spent_in_all(result.values)
    if usage is None:
        return None, ()
    notes = ["cost is the client's nominal one" if usage.cost_usd else "no cost is reported"]
    if (own := main_loop_note(result.values)) is not None:
        notes.append(own)
    return replace(usage, cost_usd=usage.cost_usd or None), tuple(notes)
