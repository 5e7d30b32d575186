"""What a run's own patch says between two states that cannot be compared as trees.

The state before is often not recorded (a harness that keeps patches only), or the patch is damaged
and does not apply: then the patch itself is the best that there is.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from arcview.files import read_file
from arcview.model.patch import FilePatch
from arcview.model.run import Run
from arcview.model.states import PatchSource, State
from arcview.states.survey import has_source, may_read

AS_RECORDED = "as the run's own patch says: one of the states is not recorded or does not fit it"


def patch_bytes(path: Path, source: PatchSource) -> bytes:
    """The text of a patch, which may stand inside another file.

    Args:
        path: Where `source.path` lies.
        source: The patch.

    Raises:
        OSError: its file cannot be read.
    """
    if source.text is not None:
        return source.text.encode("utf-8", "surrogateescape")
    return read_file(path)


class RecordedPatches:
    """The patches of one run; each is read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._read: dict[tuple[str, str], tuple[FilePatch, ...] | None] = {}

    def between(self, old: str, new: str) -> tuple[FilePatch, ...] | None:
        """The files of the patch that made one state of another, as it says, sorted by path.

        Args:
            old: Id of the state before.
            new: Id of the state after.

        Returns:
            Null where no patch is recorded between the two, or it cannot be read.
        """
        if (old, new) not in self._read:
            self._read[old, new] = self._between(old, new)
        return self._read[old, new]

    def _between(self, old: str, new: str) -> tuple[FilePatch, ...] | None:
        state = self._run.state(new)
        source = state.source if state is not None else None
        if state is None or not isinstance(source, PatchSource) or source.base != old:
            return None
        if not may_read(self._run, state, source):
            return None
        # 5 ms, and only an open diff needs them.
        from arcview.states.patch_text import parse_patch
        from arcview.states.path_class import classify

        try:
            parsed = parse_patch(patch_bytes(Path(self._run.path) / source.path, source))
        except OSError:
            return None
        rules = self._run.chain.path_rules
        files = [
            replace(file, change=replace(file.change, path_class=classify(file.change.path, rules)))
            for file in parsed.files
        ]
        return tuple(sorted(files, key=attrgetter("change.path")))

    def is_all_there_is(self, state: State) -> bool:
        """Whether no state that a patch was made for is recorded: nothing to apply it to.

        That is no fault of the run: what the patch itself says is shown.
        """
        source = state.source
        if not isinstance(source, PatchSource) or self.between(source.base, state.id) is None:
            return False
        seen: set[str] = set()
        at: State | None = state
        while at is not None and isinstance(at.source, PatchSource) and at.id not in seen:
            seen.add(at.id)
            at = self._run.state(at.source.base)
        return at is not None and at.id not in seen and not has_source(at)
