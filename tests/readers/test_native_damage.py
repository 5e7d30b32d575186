"""Whatever stands in the files of a native run, it opens or says in one line why not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError
from arcview.readers.check import check
from arcview.readers.registry import iter_runs, open_run
from arcview.readers.runs.native import NativeReader
from tests.readers.native_run import NativeRun, full_run

ODD_VALUES: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), "", "x", "two\nlines", "../x", "\0", "S1",
    "\ud800", [], [[]], ["x"], {}, {"x": {}}, [None], [{"id": {}}], "\x1b]52;c;eA==\x07",
]  # fmt: skip


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON document, the document itself left out."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield (*place, key)
        yield from places(item, (*place, key))


def with_value(document: Any, place: tuple[Any, ...], value: object) -> Any:
    changed = copy.deepcopy(document)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


def documents(run: NativeRun) -> dict[str, Any]:
    """The documents of a run that use every field of the format."""
    tree = "a" * 40
    run.run |= {
        "delegation": {"declared": "L4"},
        "harness": {"name": "h", "version": "1"},
        "started": "2026-01-31T12:00:00Z",
        "chain": "chain",
    }
    run.run["states"][1] |= {"tree": tree, "unchanged": False, "usage": {"cost_usd": 1}}
    run.run["stages"][0] |= {
        "base": "S0",
        "end": "S1",
        "sessions": ["s"],
        "usage": {"input_tokens": 5, "cost_usd": 0.5},
        "trajectories": [{"path": "stages/1/trajectory.json", "role": "main", "session": "s-1"}],
    }
    run.chain |= {
        "image": {"ref": "x", "digest": "sha256:" + "a" * 64},
        "languages": ["python"],
        "path_rules": {"test": ["tests/**"]},
    }
    run.chain["gates"][0] |= {
        "steps": [{"name": "t", "command": ["pytest"]}],
        "reports": [{"path": "r.xml", "step": "t"}],
        "overlay": [{"path": "a.py", "sha256": "a" * 64}],
    }
    result = {
        "schema": "arcview/gate-result/1",
        "gate": "1",
        "state": "S1",
        "tree": tree,
        "verdict": "passed",
        "exit_codes": [0],
        "timed_out": False,
        "f2p": {"expected": 2, "passed": 2},
        "p2p": {"expected": 0},
        "engine": {"name": "docker", "limits_enforced": True},
    }
    return {
        "run.json": run.run,
        "chain/chain.json": run.chain,
        "stages/1/gate/result.json": result,
        "stages/1/gate/tests.jsonl": {"id": "t::a", "group": "f2p", "outcome": "passed"},
        "stages/1/trajectory.json": json.loads((run.root / "stages/1/trajectory.json").read_text()),
    }


def complaint(root: Path) -> str:
    """Reads everything that a run offers; what it says where it cannot be opened."""
    try:
        run = NativeReader().read(root)
    except ArcviewError as error:
        return str(error)
    for gate in run.run.gates:
        run.gate_tests(gate.gate, gate.state)
        run.gate_outcomes(gate.gate, gate.state)
    problems = [*run.problems()]
    for stage in run.run.stages:
        problems += run.trajectory(stage.trajectories).problems
        if stage.spec_path is not None:
            run.text(stage.spec_path)
    run.inputs()
    return "".join(f"{problem.where} {problem.what}" for problem in problems)


NAMES = [
    "run.json",
    "chain/chain.json",
    "stages/1/gate/result.json",
    "stages/1/gate/tests.jsonl",
    "stages/1/trajectory.json",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_value_anywhere_in_a_document_makes_more_than_lines(tmp_path: Path, name: str) -> None:
    run = full_run(tmp_path)
    document = documents(run)[name]
    run.write()
    for place in places(document):
        for value in ODD_VALUES:
            run.write_json(name, with_value(document, place, value))
            assert "\n" not in complaint(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_no_document_cut_anywhere_makes_more_than_lines(tmp_path: Path, name: str) -> None:
    run = full_run(tmp_path)
    text = json.dumps(documents(run)[name])
    run.write()
    for end in range(0, len(text), 7):
        run.write_text(name, text[:end])
        assert "\n" not in complaint(tmp_path)


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_wrong_type_anywhere_is_a_fault_of_the_check(tmp_path: Path, name: str) -> None:
    run = full_run(tmp_path)
    document = documents(run)[name]
    run.write()
    for place in places(document):
        run.write_json(name, with_value(document, place, [{"odd": [1]}]))
        known = "\n".join(fault.where for fault in check(tmp_path).faults)
        wrong = f"[{place[-1]}]" if isinstance(place[-1], int) else str(place[-1])
        assert wrong in known


def test_a_run_whose_document_is_empty_is_one_run_that_cannot_be_read(tmp_path: Path) -> None:
    """A writer that was killed; the sessions of its stages are no runs of their own."""
    run = full_run(tmp_path / "run").write()
    (run / "run.json").write_bytes(b"")
    assert list(iter_runs(tmp_path)) == [run]
    with pytest.raises(ArcviewError, match=r"run\.json: expected JSON, the file is empty"):
        open_run(run)
