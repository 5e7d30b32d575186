"""The workspace of a stage as it stood after one of its steps, as a diff from the stage's base.

Exact where the run recorded states per step; otherwise reconstructed from the visible edits, with
how far that can be trusted. Knows no screen; belongs into a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from arcview.analysis.replay import Replay
from arcview.analysis.text_diff import count_changes, diff_texts
from arcview.errors import ArcviewError
from arcview.model.patch import ChangeKind, FileChange, FilePatch, PathClass
from arcview.session.attribution import Attribution
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_FOLDED = frozenset({PathClass.VENDORED, PathClass.GENERATED, PathClass.CACHE, PathClass.LOCK})


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How far a reconstruction can be trusted: what it gives for the end of the stage."""

    files: int
    """Files that the stage changed, without vendored, generated, lock and cache files."""
    equal: int
    """Those of them that the replay gives line by line as they are."""
    unlike: tuple[str, ...]
    """The others: a program wrote to them."""


class StageReplay:
    """Steps through one stage, or through a pass after it.

    Args:
        opened: The run; its states must be built (`store.ready()`).
        attribution: What other questions have read already.
        stage: 1-based.
        state: The between-state that the pass ended in; by default the stage itself.
    """

    def __init__(
        self,
        opened: OpenRun,
        attribution: Attribution,
        files: WorkspaceFiles,
        stage: int,
        state: str | None = None,
    ) -> None:
        self._opened = opened
        self._attribution = attribution
        self._files = files
        found = opened.run.stage(stage)
        self._end = state or (found.end if found is not None else None)
        base = found.base if found is not None else None
        self._base = base if state is None else files.before(state)
        trajectory = opened.trajectory(stage, state)
        self._places = {step.key: place for place, step in enumerate(trajectory.steps)}
        self._recorded = self._recorded_states()
        self._replay: Replay | None = None
        self._done = 0
        self._fidelity: Fidelity | None = None

    @property
    def missing(self) -> str | None:
        """Why there is nothing to step through, where that is so."""
        for state in (self._base, self._end):
            if state is None:
                return "the states of this stage are not recorded"
            if self._opened.store.tree(state) is None:
                return f"{state}: {self._opened.store.missing(state) or 'not there'}"
        return None

    @property
    def is_exact(self) -> bool:
        """Whether the run recorded the workspace after every step that changed it."""
        return bool(self._recorded)

    def changes(self, step_key: str) -> tuple[FileChange, ...]:
        """What differs from the stage's base once a step is done, sorted by path.

        Raises:
            ArcviewError: there is no such step, or a state is missing.
        """
        if self.is_exact:
            at = self.state_at(step_key)
            if at is None or self._base is None or at == self._base:
                return ()
            return self._opened.store.changes(self._base, at)
        replay = self._replayed(step_key)
        found = (self._change(replay, path) for path in sorted(replay.touched))
        return tuple(change for change in found if change is not None)

    def patch(self, step_key: str, path: str) -> FilePatch:
        """The hunks of one of these files.

        Raises:
            ArcviewError: the file does not differ from the base at that step.
        """
        at = self.state_at(step_key)
        if self.is_exact and at is not None and self._base is not None:
            return self._opened.store.patch(self._base, at, path)
        replay = self._replayed(step_key)
        change = self._change(replay, path)
        if change is None:
            raise ArcviewError(f"{path} does not differ from the start of the stage at this step")
        hunks = diff_texts(self._files.text(self._base, path), replay.text(path))
        return FilePatch(change, hunks, ("reconstructed from the edits that calls spell out",))

    def state_at(self, step_key: str) -> str | None:
        """The recorded state after a step, for everything that takes a state's id; else null.

        A step that changed nothing leaves the one before it, the first ones the stage's base.
        """
        if not self.is_exact:
            return None
        place = self._place(step_key)
        found = self._base
        for recorded, state in self._recorded:
            if recorded > place:
                break
            found = state
        return found

    def edit_steps(self) -> tuple[str, ...]:
        """Keys of the steps that changed the workspace, as far as that is known, in order."""
        if self.is_exact:
            keys = {place: key for key, place in self._places.items()}
            return tuple(dict.fromkeys(keys[place] for place, _ in self._recorded))
        edits = self._attribution.edits(self._end) if self._end is not None else ()
        return tuple(dict.fromkeys(item.step for item in edits))

    def fidelity(self) -> Fidelity | None:
        """How the reconstruction of the last step compares with the recorded end; null if exact."""
        if self.is_exact or self.missing is not None or self._end is None:
            return None
        if self._fidelity is None:
            last = max(self._places, key=self._places.__getitem__, default=None)
            replay = self._replayed(last) if last is not None else self._fresh()
            changed = [
                change.path
                for change in self._files.changes(self._base, self._end)
                if change.path_class not in _FOLDED
            ]
            unlike = tuple(path for path in changed if not self._is_alike(replay, path))
            self._fidelity = Fidelity(len(changed), len(changed) - len(unlike), unlike)
        return self._fidelity

    def _is_alike(self, replay: Replay, path: str) -> bool:
        end, replayed = self._files.text(self._end, path), replay.text(path)
        if end is None or replayed is None:
            return end is replayed and not self._files.has(self._end, path)
        return not diff_texts(replayed, end, context=0)

    def _recorded_states(self) -> list[tuple[int, str]]:
        """(Place of the step, state) of each recorded step; empty unless all of them are known."""
        steps = self._opened.store.step_states(self._end) if self._end is not None else ()
        found = [(self._places.get(step.key or "", -1), step.id) for step in steps]
        places = [place for place, _ in found]
        is_whole = all(place >= 0 for place in places) and places == sorted(places)
        return found if is_whole else []

    def _place(self, step_key: str) -> int:
        if step_key not in self._places:
            raise ArcviewError(f"this stage has no step {step_key}")
        return self._places[step_key]

    def _fresh(self) -> Replay:
        files, base = self._files, self._base
        return Replay(partial(files.text, base), files.renames(self._end or ""))

    def _replayed(self, step_key: str) -> Replay:
        """The replay up to and with a step: forward from where it stands, else from the start."""
        place = self._place(step_key)
        edits = self._attribution.edits(self._end) if self._end is not None else ()
        upto = sum(self._places.get(item.step, -1) <= place for item in edits)
        if self._replay is None or upto < self._done:
            self._replay, self._done = self._fresh(), 0
        for item in edits[self._done : upto]:
            self._replay.apply(item)
        self._done = upto
        return self._replay

    def _change(self, replay: Replay, path: str) -> FileChange | None:
        from arcview.states.path_class import classify

        old, new = self._files.text(self._base, path), replay.text(path)
        if old is None and new is None:
            return None
        hunks = diff_texts(old, new, context=0)
        if not hunks and old is not None and new is not None:
            return None
        added, removed = count_changes(hunks)
        kind = ChangeKind.MODIFIED
        if old is None or new is None:
            kind = ChangeKind.ADDED if old is None else ChangeKind.DELETED
        path_class = classify(path, self._opened.run.chain.path_rules)
        return FileChange(path, kind, added=added, removed=removed, path_class=path_class)
