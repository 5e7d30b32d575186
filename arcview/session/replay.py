"""The workspace as it stood after each step of a stage: recorded, else from the replayed edits.

Knows no screen. Making a replay takes tens of milliseconds, and so does a step: for workers.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arcview.analysis.line_diff import hunks_between
from arcview.analysis.replay import Replay, StepEdit, matching_runs, split_lines
from arcview.model.patch import ChangeKind, FileChange, FilePatch, LineKind
from arcview.session.attribution import Attribution, LineSource
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun
    from arcview.states.store import StepState


_Traced = tuple[str, tuple[str | None, ...], str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workspace after one step, as what changed since the stage began."""

    base: str
    """The state that the stage began with."""
    number: int | None
    """Number of the step."""
    step_state: str | None
    """Id of the recorded state, for the store; null where it is reconstructed."""
    patches: tuple[FilePatch, ...] = ()
    """Of a reconstructed one."""
    edits: int = 0
    """Edits that were replayed up to here."""
    misfits: int = 0
    """Edits up to here that did not fit, which leaves their files as they were."""
    commands: int = 0
    """Shell commands up to here, which may have written what no edit shows."""
    focus: tuple[str, int | None] | None = None
    """File and line that this very step changed."""
    texts: dict[str, str | None] = field(default_factory=dict)
    """Of a reconstructed one: the files that edits touched; null for one that is gone."""


class StageReplay:
    """The steps on the way to one state.

    Args:
        opened: The run; its states must be built (`store.ready()`).
        attribution: Knows the visible edits of its stages.
        files: The files of its states.
        state: The state that the stage or pass ended in.
        use_recorded_steps: False leaves recorded steps aside, to measure the replay against them.
    """

    def __init__(
        self,
        opened: OpenRun,
        attribution: Attribution,
        files: WorkspaceFiles,
        state: str,
        *,
        use_recorded_steps: bool = True,
    ) -> None:
        self._opened = opened
        self._attribution = attribution
        self._files = files
        self._base = files.before(state)
        self._state = state
        trajectory = attribution.trajectory(state)
        self._places = {step.key: place for place, step in enumerate(trajectory.steps)}
        self._numbers = tuple(step.number for step in trajectory.steps)
        self._keys = tuple(step.key for step in trajectory.steps)
        self._recorded = self._recorded_steps() if use_recorded_steps else ()
        self._edits = () if self._recorded else self._placed(attribution.edits(state))
        shell = (self._places.get(s.step_key) for s in attribution.shell_steps(state))
        self._shell = sorted(place for place in shell if place is not None)
        self._versions: list[dict[str, str | None]] | None = None
        self._misfits: list[int] = []
        self._patches: dict[tuple[str, str | None], FilePatch | None] = {}

    @property
    def missing(self) -> str | None:
        """Why nothing can be shown; null where something can."""
        if self._base is None or not self._files.is_there(self._base):
            return "the state that the stage began with is not recorded"
        return None

    def at(self, place: int) -> Snapshot:
        """The workspace after the step at a position (0-based) of the trajectory."""
        base = self._base or ""
        number = self._numbers[place] if 0 <= place < len(self._numbers) else None
        if self._recorded:
            return self._recorded_at(base, number, place)
        count = bisect_right([at for at, _ in self._edits], place)
        texts = self._texts()[count]
        changed = (self._patch(path, text) for path, text in sorted(texts.items()))
        return Snapshot(
            base,
            number,
            None,
            tuple(patch for patch in changed if patch is not None),
            count,
            self._misfits[count],
            bisect_right(self._shell, place),
            self._edited_at(place, count),
            texts,
        )

    def source(self, place: int, path: str, line: int) -> LineSource | None:
        """Which stage and step wrote a line as it stands after the step at a position.

        Args:
            place: The position (0-based) in the trajectory.
            path: A file as it is called then.
            line: 1-based.
        """
        traced = self._traced_recorded if self._recorded else self._traced_edits
        text, keys, first_name = traced(place, path)
        if not 0 < line <= len(keys):
            return None
        key = keys[line - 1]
        if key is None:
            return self._source_before(first_name, split_lines(text), line)
        state = self._opened.run.state(self._state)
        return LineSource(
            self._state,
            state.stage if state is not None else 0,
            self._files.is_between(self._state),
            "exact",
            key,
            self._numbers[self._places[key]],
            recorded=bool(self._recorded),
        )

    def _traced_recorded(self, place: int, path: str) -> _Traced:
        """A file after a recorded step: its text, the step of each line, its name before them."""
        count = bisect_right([at for at, _ in self._recorded], place)
        if not count:
            return self._traced_edits(place, path)
        step = self._recorded[count - 1][1].id
        text = self._files.text(step, path)
        if text is None:
            return "", (), path
        change = next((c for c in self._files.changes(self._base, step) if c.path == path), None)
        first_name = change.old_path if change is not None else None
        return text, self._opened.store.blame_steps(step, path), first_name or path

    def _traced_edits(self, place: int, path: str) -> _Traced:
        """The same from the replayed edits."""
        edits = [item for at, item in self._edits if at <= place]
        replay = Replay(lambda name: self._files.text(self._base, name))
        for item in edits:
            replay.apply(item)
        text = replay.text(path)
        if text is None:
            return "", (), path
        keys = tuple(origin.step for origin in replay.origins(path, text).lines)
        for item in reversed(edits):
            if item.edit.kind in ("move", "copy") and item.edit.path == path:
                path = item.edit.source
        return text, keys, path

    def _source_before(self, path: str, now: list[str], line: int) -> LineSource | None:
        """The source of a line that the stage began with."""
        base = self._base or ""
        before = split_lines(self._files.text(base, path) or "")
        for old_start, new_start, size in matching_runs(before, now):
            if new_start < line <= new_start + size:
                return self._attribution.source(base, path, old_start + line - new_start)
        return None

    # Recorded

    def _recorded_steps(self) -> tuple[tuple[int, StepState], ...]:
        steps = self._opened.store.step_states(self._state)
        placed = [(self._places.get(step.key or ""), step) for step in steps]
        if any(place is None for place, _ in placed):
            return ()  # a state of which nobody knows the step says nothing about the others
        return tuple((place, step) for place, step in placed if place is not None)

    def _recorded_at(self, base: str, number: int | None, place: int) -> Snapshot:
        count = bisect_right([at for at, _ in self._recorded], place)
        if not count:
            return Snapshot(base, number, base)
        at, step = self._recorded[count - 1]
        before = self._recorded[count - 2][1].id if count > 1 else base
        focus = self._first_change(before, step.id) if at == place else None
        return Snapshot(base, number, step.id, focus=focus)

    def _first_change(self, old: str, new: str) -> tuple[str, int | None] | None:
        change = next(iter(self._files.changes(old, new)), None)
        if change is None:
            return None
        patch = self._opened.store.patch(old, new, change.path)
        return change.path, _first_added(patch)

    # Reconstructed

    def _placed(self, edits: tuple[StepEdit, ...]) -> tuple[tuple[int, StepEdit], ...]:
        placed = [(self._places[item.step], item) for item in edits if item.step in self._places]
        return tuple(sorted(placed, key=lambda pair: pair[0]))

    def _texts(self) -> list[dict[str, str | None]]:
        """The files that edits touched, after each number of edits."""
        if self._versions is None:
            base = self._base
            files = self._files
            replay = Replay(lambda path: files.text(base, path))
            versions: list[dict[str, str | None]] = [{}]
            misfits = [0]
            for _, item in self._edits:
                fits = replay.apply(item)
                now = dict(versions[-1])
                for path in replay.touched:
                    if path not in now or path in (item.edit.path, item.edit.source):
                        now[path] = replay.text(path)
                versions.append(now)
                misfits.append(misfits[-1] + (not fits))
            self._misfits = misfits
            self._versions = versions
        return self._versions

    def _patch(self, path: str, text: str | None) -> FilePatch | None:
        """What became of a file; null where it is as it was."""
        key = (path, text)
        if key not in self._patches:
            old = self._files.text(self._base, path)
            same = old == text or (old is not None and text == _with_end(old))
            self._patches[key] = None if same else self._compared(path, old, text)
        return self._patches[key]

    def _compared(self, path: str, old: str | None, new: str | None) -> FilePatch:
        from arcview.states.path_class import classify

        hunks = tuple(hunks_between(split_lines(old or ""), split_lines(new or "")))
        kinds = [line.kind for hunk in hunks for line in hunk.lines]
        kind = ChangeKind.MODIFIED
        if old is None or new is None:
            kind = ChangeKind.ADDED if old is None else ChangeKind.DELETED
        change = FileChange(
            path,
            kind,
            added=kinds.count(LineKind.ADDED),
            removed=kinds.count(LineKind.REMOVED),
            path_class=classify(path, self._opened.run.chain.path_rules),
        )
        return FilePatch(change, hunks)

    def _edited_at(self, place: int, count: int) -> tuple[str, int | None] | None:
        first = next((n for n, (at, _) in enumerate(self._edits) if at == place), None)
        if first is None:
            return None
        path = self._edits[first][1].edit.path
        before, after = self._texts()[first].get(path), self._texts()[count].get(path)
        if before is None:
            before = self._files.text(self._base, path) if path not in self._texts()[first] else ""
        if after is None or before == after:
            return path, None
        return path, _first_difference(split_lines(before or ""), split_lines(after))


def _with_end(text: str) -> str:
    """As the replay writes a text: every line with a line feed."""
    return "".join(f"{line}\n" for line in split_lines(text))


def _first_difference(old: list[str], new: list[str]) -> int:
    """The first line (1-based) of `new` that is not that of `old`."""
    pairs = enumerate(zip(old, new, strict=False), 1)
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new) - 1) + 1)


def _first_added(patch: FilePatch) -> int | None:
    lines = (line for hunk in patch.hunks for line in hunk.lines)
    return next((line.new_number for line in lines if line.kind is LineKind.ADDED), None)
