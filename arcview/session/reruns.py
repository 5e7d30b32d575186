"""Reruns of the gates of one open run, for the command line and the screens.

Recorded results are never touched; results go to the sidecar. The engine is opened when it is first
needed, so that stored results need none. Must not import the terminal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.verdicts import judge
from arcview.errors import ArcviewError, CancelledError
from arcview.gates.definition import GateDefinition, gate_definition, rerunnable_gates
from arcview.gates.engine import Engine, Image, OnPull, Phase
from arcview.gates.errors import CannotRerunError, ImageMissingError
from arcview.gates.result_store import ResultStore
from arcview.gates.results import (
    Comparison,
    Flakiness,
    RerunResult,
    ResultKey,
    compare,
    flakiness,
)
from arcview.gates.tested_tree import TestedTree
from arcview.session.opened import OpenRun
from arcview.session.reruns_command import command_text, shell_command
from arcview.session.reruns_engine import ImageFetch, SittingEngine
from arcview.session.reruns_job import Asked, job_of, result_of, tested_tree
from arcview.session.reruns_model import (
    Cancelled,
    Control,
    LeftBehind,
    OnEvent,
    OnOutput,
    RerunEvent,
    RerunOptions,
    RerunPlan,
    Target,
)
from arcview.sidecar import run_sidecar, sidecar_root

if TYPE_CHECKING:
    from arcview.gates.trees import Trees


class Reruns:
    """Reruns gates of one run; may be called from several threads.

    Args:
        opened: The run.
        sidecar: The sidecar of all runs; the user's own by default.
        engine: An engine that is open already; else the one that the options name.
        options: How to run.

    Attributes:
        store: The stored results.
    """

    def __init__(
        self,
        opened: OpenRun,
        *,
        sidecar: Path | None = None,
        engine: Engine | None = None,
        options: RerunOptions | None = None,
    ) -> None:
        self.opened = opened
        self.options = options or RerunOptions()
        self._sidecar = sidecar
        self.store = ResultStore(run_sidecar(sidecar_root(sidecar), opened.run.run_id))
        self._engine = SittingEngine(self._opened_engine, engine)
        self._is_tidy = False
        self._last_tree: tuple[object, TestedTree | None] = (None, None)
        self._trees: Trees | None = None
        self._definitions: dict[str, GateDefinition] = {}
        self._controls: dict[str, Control] = {}
        self._lock = threading.RLock()

    def on_host(self) -> Reruns:
        """Reruns without containers, kept in the same place."""
        return Reruns(self.opened, sidecar=self._sidecar, options=RerunOptions("host"))

    def gates(self) -> tuple[str, ...]:
        """The gates whose commands the run records."""
        return rerunnable_gates(self.opened.run)

    def definition(self, gate: str) -> GateDefinition:
        """How a gate is run.

        Raises:
            CannotRerunError: the run does not say so.
        """
        with self._lock:
            if gate not in self._definitions:
                self._definitions[gate] = gate_definition(self.opened.run, gate)
            return self._definitions[gate]

    def target(self, state: str) -> Target:
        """The tree of a state: `S3`, `R2`, `S2.refactor`.

        Raises:
            CannotRerunError: its files are not there.
        """
        self.opened.ensure_states()
        tree = self.opened.store.tree(state)
        if tree is None:
            why = self.opened.store.missing(state) or "not there"
            raise CannotRerunError(f"{state}: {why}; nothing can be run on it")
        return Target(state, tree)

    def default_target(self, gate: str) -> Target:
        """The state that the gate was recorded on, else the one its stage ended in.

        Raises:
            CannotRerunError: nothing says which, or its files are not there.
        """
        state = self.recorded_state(gate)
        if state is None:
            raise CannotRerunError(f"gate {gate}: no state is recorded for it; give --state")
        return self.target(state)

    def recorded_state(self, gate: str) -> str | None:
        """The state that the gate was recorded on, else the one its stage ended in."""
        run = self.opened.run
        record = run.stage_gate(int(gate)) if gate.isdecimal() else run.chain_gate()
        if record is not None and record.state is not None:
            return record.state
        if gate == "chain":
            return next((s.id for s in reversed(run.agent_states())), None)
        stage = run.stage(int(gate)) if gate.isdecimal() else None
        return stage.end if stage is not None else None

    def reference_state(self, gate: str) -> str:
        """The reference state after the stage of a gate, whether or not the run has it."""
        last = max((stage.index for stage in self.opened.run.stages), default=0)
        return f"R{last if gate == 'chain' else gate}"

    def known(self, gate: str, tree: str) -> tuple[RerunResult, ...]:
        """The stored results of a gate on a tree, oldest first; needs no engine.

        Raises:
            CannotRerunError: the run does not say how the gate is run.
        """
        digest = self.definition(gate).digest
        return self.store.find_any_image(digest, tree)

    def flakiness(self, results: tuple[RerunResult, ...]) -> Flakiness:
        """How often each test was ok over several results of one gate on one tree."""
        return flakiness(results, self.opened.policy)

    def comparison(self, result: RerunResult) -> Comparison | None:
        """The result beside what was recorded for that gate and state; null where nothing is."""
        state = result.label
        record = self.opened.run.gate(result.gate, state)
        if record is None:
            return None
        tests = self.opened.reader().gate_tests(result.gate, state)
        verdict = judge(record, self.opened.policy).verdict
        return compare(tests, verdict, result, self.opened.policy)

    def plan(self, gate: str, target: Target) -> RerunPlan:
        """What a rerun would do; asks the engine, and says why where there is none.

        No image is fetched: that belongs to the rerun.

        Raises:
            CannotRerunError: the run does not say how the gate is run.
        """
        definition = self.definition(gate)
        image, info, unavailable = None, None, None
        try:
            engine = self.engine()
            info = engine.info()
            image = self._image(engine, definition)
        except ImageMissingError as error:
            unavailable = None if self.options.pull else str(error)
        except ArcviewError as error:
            unavailable = str(error)
        record = self.opened.run.gate(gate, self.recorded_state(gate))
        return RerunPlan(
            definition,
            target,
            command_text(definition),
            image,
            info,
            unavailable,
            record.duration_s if record is not None else None,
            self.known(gate, target.tree),
            shell_command(definition, target.tree, self.opened.store.objects.parent),
        )

    def run(
        self,
        gate: str,
        target: Target,
        *,
        times: int = 1,
        again: bool = False,
        on_output: OnOutput = lambda _data: None,
        on_event: OnEvent = lambda _event: None,
        cancelled: Cancelled = lambda: False,
    ) -> tuple[RerunResult, ...]:
        """Runs a gate on a tree as often as asked for; what is stored already is not run again.

        Args:
            gate: Its id.
            target: The tree.
            times: How many measured results are wanted.
            again: Run it that often whatever is stored.
            on_output: Gets what the gate prints as it comes, from a thread of the engine.
            on_event: Gets where it stands.
            cancelled: Asked about ten times a second.

        Returns:
            The results, oldest first; a cancelled run is the last of them and unmeasured. None
            where it was cancelled while the image was fetched.

        Raises:
            CannotRerunError: the run does not say how the gate is run.
            EngineUnavailableError: no engine answers.
            ImageRefusedError: the image is not there, or not the recorded one.
            ArcviewError: the sidecar cannot be written.
        """
        fetch = ImageFetch(
            lambda: on_event(RerunEvent(Phase.FETCHING, gate, target.label, 1, times)),
            on_output,
            cancelled,
        )
        asked = self._asked(gate, target, fetch)
        if asked is None:
            return ()
        found = [] if again else [r for r in self.store.find(asked.key) if r.is_measured][-times:]
        while len(found) < times and not cancelled():
            number = len(found) + 1

            def on_phase(phase: Phase, number: int = number) -> None:
                on_event(RerunEvent(phase, gate, target.label, number, times))

            on_phase(Phase.READING)
            found.append(self._run_once(asked, on_output, on_phase, cancelled))
            on_phase(Phase.DONE)
        return tuple(found)

    def _asked(self, gate: str, target: Target, fetch: ImageFetch) -> Asked | None:
        """What is to be run, and in what; null where it was cancelled while that was fetched."""
        definition = self.definition(gate)
        self._tree(definition, target)  # is read while the engine is asked
        engine = self.engine()
        self.tidy()
        try:
            image = self._image(engine, definition, fetch if self.options.pull else None)
        except CancelledError:
            return None
        key = ResultKey(definition.digest, target.tree, image.digest)
        return Asked(definition, target, key, engine, image)

    def control(
        self,
        gate: str,
        *,
        on_event: OnEvent = lambda _event: None,
        cancelled: Cancelled = lambda: False,
    ) -> Control:
        """Runs a gate where the answer is known, once a sitting; see `session.reruns_control`.

        Raises:
            ArcviewError: as for `run`.
        """
        from arcview.session.reruns_control import probe  # only who fills a matrix

        with self._lock:
            known = self._controls.get(gate)
        if known is None:
            known = probe(self, gate, on_event, cancelled)
            if not cancelled():
                with self._lock:
                    self._controls[gate] = known
        return known

    def engine(self) -> Engine:
        """The engine, opened when it is first asked for.

        Raises:
            EngineUnavailableError: none answers.
        """
        return self._engine.get()

    def _opened_engine(self) -> Engine:
        from arcview.gates.engines import open_engine

        return open_engine(self.options.engine)

    def tidy(self) -> LeftBehind | None:
        """Once a sitting: removes what a crashed arcview left behind; says what that was.

        Raises:
            EngineUnavailableError: none answers.
        """
        engine = self.engine()
        with self._lock:
            if self._is_tidy:
                return None
            self._is_tidy = True
        on_host = engine.info().kind == "host"
        return LeftBehind(on_host, self._engine.reap(), self.store.reap())

    def close(self) -> None:
        """Lets go of the engine; waits for nothing."""
        self._engine.close()

    def trees(self) -> Trees:
        """The files of any tree of the run."""
        with self._lock:
            if self._trees is None:
                from arcview.gates.trees import Trees

                self.opened.ensure_states()
                self._trees = Trees(self.opened.store)
            return self._trees

    def _tree(self, definition: GateDefinition, target: Target) -> TestedTree:
        """The tested tree; the last one is kept, since a gate is often run several times."""
        start = self.opened.store.tree("S0")
        with self._lock:
            kept, found = self._last_tree
            if found is None or kept != (definition.gate, target):
                found = tested_tree(definition, target, self.trees(), start)
                self._last_tree = ((definition.gate, target), found)
            return found

    def _image(
        self, engine: Engine, definition: GateDefinition, on_pull: OnPull | None = None
    ) -> Image:
        return engine.image(
            definition.image_ref,
            definition.image_digest,
            allow_other=self.options.allow_other_image,
            on_pull=on_pull,
        )

    def _run_once(
        self,
        asked: Asked,
        on_output: OnOutput,
        on_phase: Callable[[Phase], None],
        cancelled: Cancelled,
    ) -> RerunResult:
        from arcview.gates.judge import measure

        tree = self._tree(asked.definition, asked.target)
        staged = self.store.stage()
        try:
            job = job_of(asked, tree, staged)
            started = datetime.now(UTC).isoformat(timespec="milliseconds")
            log = staged / "log.txt"
            with log.open("wb", buffering=0) as file:

                def tee(data: bytes) -> None:
                    file.write(data)
                    on_output(data)

                execution = asked.engine.execute(job, tee, on_phase, cancelled)
            measured = measure(asked.definition, execution, log)
            result = result_of(asked, execution, measured, started)
            origins = execution.delivery.origins if execution.delivery is not None else ()
            return self.store.add(result, staged, origins)
        except BaseException:
            self.store.drop(staged)
            raise
