"""`arcview import`: writes a run of any layout as a run folder of ours, whole or not at all.

Made beside its place and moved there when it is done; nothing is ever overwritten. What was wrong
with the original is kept in run.json, so that `arcview check` holds the new folder to its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.files import is_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import Run, Stage
from arcview.model.states import StateKind
from arcview.readers.protocols import OpenedRun
from arcview.readers.runs.native import NativeReader
from arcview.readers.runs.native_fields import tidy
from arcview.session.import_documents import (
    Json,
    StagePart,
    chain_json,
    dumps,
    end_time,
    gate_json,
    result_json,
    run_json,
    test_line,
)
from arcview.session.import_files import Copied, copy_logs
from arcview.session.import_states import folder_of, write_bundle, write_patch
from arcview.session.opened import OpenRun

BUNDLE = "workspace.bundle"
REFERENCE = "chain/reference.bundle"
_CHAIN_GATE = "chain"


@dataclass(frozen=True, slots=True)
class Written:
    """What an import wrote."""

    files: tuple[str, ...]
    left_out: tuple[Problem, ...]
    """What the new folder does not hold of the run."""


def _untold(what: str) -> None:
    """Where nobody waits to be told."""


def write_run(opened: OpenRun, out: Path, tell: Callable[[str], None] = _untold) -> Written:
    """Writes a run folder.

    Args:
        opened: The run.
        out: The folder to make.
        tell: Told what is about to be written.

    Raises:
        ArcviewError: there is something at `out`, it cannot be written, or git fails.
    """
    if os.path.lexists(out):
        raise ArcviewError(f"{out}: is there already; an import never overwrites")
    if out.resolve().is_relative_to(Path(opened.run.path).resolve()):
        raise ArcviewError(f"{out}: inside the run that is imported; choose another place")
    with _made_beside(out) as folder:
        writer = _Writer(opened, folder, tell)
        writer.write()
        files = sorted(
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if is_file(path)
        )
        left_out = tidy(writer.left_out)
    return Written(tuple(files), left_out)


@contextmanager
def _made_beside(out: Path) -> Iterator[Path]:
    """A folder that becomes `out` when nothing went wrong, and is gone otherwise."""
    folder = out.absolute().with_name(f".{out.name}.{os.urandom(6).hex()}")
    try:
        folder.mkdir(parents=True)
        yield folder
        folder.rename(out)
    except OSError as error:
        raise ArcviewError(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class _Writer:
    """Writes the parts of one run."""

    opened: OpenRun
    folder: Path
    tell: Callable[[str], None]
    left_out: list[Problem] = field(default_factory=list)

    @property
    def run(self) -> Run:
        return self.opened.run

    @property
    def reader(self) -> OpenedRun:
        return self.opened.reader()

    def write(self) -> None:
        """Everything, run.json last: without it the folder is no run."""
        self.tell("writing the states")
        missing = self._write_states()
        parts = self._write_stages()
        gates = self._write_gates()
        self._note_times()
        self._save("chain/chain.json", dumps(chain_json(self.run, parts, gates)))
        problems = [*self.run.problems, *self.reader.problems()]
        self._save("run.json", dumps(run_json(self.run, parts, missing, tidy(problems))))
        self.tell("reading the copies")
        # What is wrong with a log is as wrong in its copy.
        problems += self._found_again()
        self._save("run.json", dumps(run_json(self.run, parts, missing, tidy(problems))))

    def _note_times(self) -> None:
        times = [("run", self.run.started, self.run.ended)]
        times += [(f"stage {s.index}", s.started, s.ended) for s in self.run.stages]
        for where, started, ended in times:
            if ended is not None and end_time(started, ended) is None:
                what = f"ended at {ended}, which cannot be compared with its start"
                self.left_out.append(Problem(where, what))

    def _save(self, name: str, text: str) -> None:
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")

    def _write_states(self) -> dict[str, str]:
        """The bundles and patches; why the other states are not there, by their ids."""
        states = self.run.agent_states()
        references = [s for s in self.run.states if s.kind is StateKind.REFERENCE]
        if not self.run.states:
            return {}
        self.opened.ensure_states()
        store, objects = self.opened.store, self.opened.store.objects
        scratch = self.folder / ".git-scratch"
        try:
            there = write_bundle(states, store, objects, self.folder / BUNDLE, scratch)
            if references:
                (self.folder / "chain").mkdir(exist_ok=True)
                write_bundle(references, store, objects, self.folder / REFERENCE, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        missing = {}
        for state in states:
            if state.id in there or write_patch(self.run, state, self.folder) is not None:
                continue
            missing[state.id] = store.missing(state.id) or "its files are not there"
        return missing

    def _write_stages(self) -> dict[int, StagePart]:
        """Trajectories, specifications and contracts."""
        copied = Copied(self.folder, self.reader)
        parts = {}
        for stage in self.run.stages:
            self.tell(f"writing stage {stage.index} of {len(self.run.stages)}")
            entries = copied.entries(stage.trajectories, f"stages/{stage.index}")
            for each in stage.passes:
                place = f"stages/{each.state.removeprefix('S')}"
                entries += copied.entries(each.trajectories, place, of_pass=True)
            parts[stage.index] = StagePart(
                entries,
                self._document(stage, stage.spec_path, "spec", (".md",)),
                self._document(stage, stage.contract_path, "contract", (".json", ".md")),
            )
        self.left_out += copied.left_out
        return parts

    def _document(
        self, stage: Stage, path: str | None, name: str, endings: Sequence[str]
    ) -> str | None:
        """A text of the chain; its place in the chain folder, or null."""
        if path is None:
            return None
        ending = next((e for e in endings if path.endswith(e)), endings[-1])
        place = f"stages/{stage.index}/{name}{ending}"
        try:
            self._save(f"chain/{place}", self.opened.text(path))
        except ArcviewError as error:
            self.left_out.append(Problem(path, str(error)))
            return None
        return place

    def _write_gates(self) -> list[Json]:
        """The results of every gate run that the format has a place for; the gates' lists."""
        by_gate: dict[str, list[tuple[GateRecord, Sequence[GateTest]]]] = {}
        for record in self.run.gates:
            place = self._gate_folder(record)
            if place is None:
                what = f"gate {record.gate} on {record.state}: the format has no place for it"
                self.left_out.append(Problem("gates", what))
                continue
            self.tell(f"writing gate {record.gate}")
            tests = self.reader.gate_tests(record.gate, record.state)
            by_gate.setdefault(record.gate, []).append((record, tests))
            self._save(f"{place}/result.json", dumps(result_json(record, tests)))
            self._save(f"{place}/tests.jsonl", "".join(map(test_line, tests)))
            copy_logs(self.reader, record.log_paths, self.folder / place, self.left_out)
        return [gate_json(gate, runs) for gate, runs in by_gate.items()]

    def _gate_folder(self, record: GateRecord) -> str | None:
        if record.gate == _CHAIN_GATE:
            return "chain-gate"
        stage = self.run.stage(int(record.gate)) if record.gate.isdecimal() else None
        if stage is not None and record.state in (None, stage.end):
            return f"stages/{stage.index}/gate"
        state = self.run.state(record.state)
        if state is None or state.kind is not StateKind.BETWEEN:
            return None
        return f"{folder_of(state)}/gate" if record.gate == str(state.stage) else None

    def _found_again(self) -> list[Problem]:
        """What is wrong with the copied trajectories, as our own reader says it."""
        found = NativeReader().read(self.folder)
        problems: list[Problem] = []
        for stage in found.run.stages:
            for refs in (stage.trajectories, *(each.trajectories for each in stage.passes)):
                if refs:
                    problems += found.trajectory(refs).problems
        return problems
