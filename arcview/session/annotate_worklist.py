"""What is to be labelled: the failing gates of many runs, by filter or sample, with progress.

Reads summaries and the sidecar alone, so that hundreds of runs are listed at once. Knows no screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from arcview.analysis.overview import Overview
from arcview.annotations.store import AnnotationStore
from arcview.model.annotation import Case, CaseStatus, Reading
from arcview.model.problem import Problem
from arcview.model.results import Verdict
from arcview.session.address import Address
from arcview.session.library import LibraryRow, scan
from arcview.sidecar import run_sidecar, sidecar_root


class Which(StrEnum):
    """Which gates are on the list."""

    FAILING = "failing"
    """Every stage gate that failed, and the chain gate where it did."""
    FIRST = "first"
    """Of each run the first that failed."""
    FIRST_STAGE = "first-stage"
    """Every failing gate of the runs whose first stage failed."""
    AFTER_FAILURE = "after-failure"
    """Failing gates of stages after a failed one: what propagation is seen in."""


class Progress(StrEnum):
    """How far one person is with an item."""

    OPEN = "open"
    DRAFT = "draft"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class WorkFilter:
    """What to put on the list; an empty tuple takes all."""

    which: Which = Which.FAILING
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    sample: int | None = None
    """At most so many, drawn by `seed`; null takes all."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One failing gate to be labelled."""

    path: Path
    """The run."""
    name: str
    """The run's path below the folder that was listed."""
    run_id: str
    task: str
    agent: str | None
    model: str | None
    gate: str
    stage: int
    failing: int
    """Failing expected tests, as far as the summary counts them."""
    progress: Progress = Progress.OPEN
    others: int | None = None
    """How many other people's readings are final; null while labelling blind."""

    @property
    def unit(self) -> str:
        """Address of the gate, which is what cases are about."""
        return str(Address("gate", self.gate))


class WorkList:
    """The items in order, and the one in hand.

    Attributes:
        items: In the order of runs and stages.
        at: Position of the item in hand; 0 where the list is empty.
        problems: Runs that cannot be read.
    """

    def __init__(
        self,
        items: Iterable[WorkItem],
        *,
        annotator: str | None,
        sidecar: Path,
        blind: bool = False,
        problems: Iterable[Problem] = (),
    ) -> None:
        self.items = list(items)
        self.problems = tuple(problems)
        self._annotator = annotator
        self._sidecar = sidecar
        self._blind = blind
        self.refresh()
        self.at = next((n for n, item in enumerate(self.items) if _is_to_do(item)), 0)

    @property
    def item(self) -> WorkItem | None:
        """The item in hand; null where the list is empty."""
        return self.items[self.at] if self.items else None

    def refresh(self, run_id: str | None = None) -> None:
        """Reads again how far the items are: all of them, or those of one run."""
        stores: dict[str, tuple[Case, ...]] = {}
        for place, item in enumerate(self.items):
            if run_id not in (None, item.run_id):
                continue
            if item.run_id not in stores:
                folder = run_sidecar(self._sidecar, item.run_id) / "annotations"
                stores[item.run_id] = AnnotationStore(folder, item.run_id, None).cases
            self.items[place] = self._measured(item, stores[item.run_id])

    def move(self, by: int) -> WorkItem | None:
        """Takes another item in hand, whatever its progress; stays at the ends."""
        self.at = max(0, min(len(self.items) - 1, self.at + by))
        return self.item

    def next_open(self) -> WorkItem | None:
        """Takes the next item that is not done or skipped in hand, round and round.

        Null, and nothing else in hand, where all are.
        """
        ahead = [*range(self.at + 1, len(self.items)), *range(self.at + 1)]
        found = next((n for n in ahead if n < len(self.items) and _is_to_do(self.items[n])), None)
        if found is None:
            return None
        self.at = found
        return self.item

    def counts(self) -> dict[Progress, int]:
        """How many items are how far."""
        found = [item.progress for item in self.items]
        return {progress: found.count(progress) for progress in Progress}

    def _measured(self, item: WorkItem, cases: Sequence[Case]) -> WorkItem:
        about = [case for case in cases if case.unit == item.unit]
        mine = [own for case in about if (own := case.reading(self._annotator)) is not None]
        others = {
            reading.annotator
            for case in about
            for reading in case.readings
            if reading.annotator != self._annotator and _is_final(reading)
        }
        return replace(item, progress=_progress(mine), others=None if self._blind else len(others))


def collect_work(
    root: Path,
    *,
    annotator: str | None,
    sidecar: Path | None = None,
    wanted: WorkFilter | None = None,
    blind: bool = False,
    only: Collection[Path] | None = None,
) -> WorkList:
    """The work list of the runs at or below a folder.

    Args:
        root: The folder.
        annotator: Whose progress it is.
        sidecar: The sidecar of all runs; the user's own by default.
        wanted: What to put on it; every failing gate by default.
        blind: Hides how many others have labelled an item.
        only: Leaves all other runs out, before a sample is drawn.

    Raises:
        ArcviewError: there is no such folder, or a file of labels cannot be read.
    """
    wanted = wanted or WorkFilter()
    items: list[WorkItem] = []
    problems: list[Problem] = []
    for row in scan(root):
        if only is not None and row.path not in only:
            continue
        if row.overview is None:
            problems.append(Problem(row.name, row.error or "cannot be read"))
        elif _is_wanted(row.overview, wanted):
            items += _items(row, row.overview, wanted.which)
    return WorkList(
        _sampled(items, wanted), annotator=annotator, sidecar=sidecar_root(sidecar), blind=blind,
        problems=problems,
    )  # fmt: skip


def _is_wanted(overview: Overview, wanted: WorkFilter) -> bool:
    return all(
        not chosen or value in chosen
        for value, chosen in (
            (overview.agent, wanted.agents),
            (overview.model, wanted.models),
            (overview.task_id, wanted.tasks),
        )
    )


def _items(row: LibraryRow, overview: Overview, which: Which) -> Iterator[WorkItem]:
    stages = overview.stages
    failed = [s for s in stages if s.judgement.verdict is Verdict.FAILED]
    if which is Which.FIRST_STAGE and not (failed and failed[0].index == stages[0].index):
        return
    if which is Which.AFTER_FAILURE:
        before = {s.index + 1 for s in failed}
        failed = [s for s in failed if s.index in before]
    gates = [(str(s.index), s.index, s.gate) for s in failed]
    chain = overview.chain_gate
    last = stages[-1] if stages else None
    counts = which is not Which.AFTER_FAILURE or (
        last is not None and last.judgement.verdict is Verdict.FAILED
    )
    if counts and chain is not None and chain.judgement.verdict is Verdict.FAILED:
        gates.append(("chain", last.index if last is not None else 0, chain))
    for gate, stage, cell in gates[:1] if which is Which.FIRST else gates:
        groups = [group for group in (cell.f2p, cell.p2p, cell.other) if group is not None]
        failing = sum(g.expected - g.passed - g.xfailed for g in groups)
        yield WorkItem(
            row.path, row.name, overview.run_id, overview.task_id, overview.agent,
            overview.model, gate, stage, failing,
        )  # fmt: skip


def _sampled(items: list[WorkItem], wanted: WorkFilter) -> list[WorkItem]:
    """The items with the smallest hashes: runs that come later do not reshuffle the rest."""
    if wanted.sample is None or wanted.sample >= len(items):
        return items
    drawn = sorted(items, key=lambda item: _draw(item, wanted.seed))[: wanted.sample]
    kept = {(item.path, item.gate) for item in drawn}
    return [item for item in items if (item.path, item.gate) in kept]


def _draw(item: WorkItem, seed: int) -> str:
    text = f"{seed}\n{item.run_id}\n{item.gate}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_to_do(item: WorkItem) -> bool:
    return item.progress in (Progress.OPEN, Progress.DRAFT)


def _is_final(reading: Reading) -> bool:
    return reading.status in (CaseStatus.FINAL, CaseStatus.ADJUDICATED)


def _progress(mine: Sequence[Reading]) -> Progress:
    """A gate with several cases is done when none of them is a draft."""
    standing = [own for own in mine if own.status is not CaseStatus.RETRACTED]
    if any(own.status is CaseStatus.DRAFT for own in standing):
        return Progress.DRAFT
    if any(_is_final(own) for own in standing):
        return Progress.DONE
    return Progress.SKIPPED if standing else Progress.OPEN


def stores_below(
    root: Path, *, annotator: str | None = None, sidecar: Path | None = None
) -> Iterator[tuple[LibraryRow, AnnotationStore]]:
    """The labels of every run at or below a folder that can be read.

    Raises:
        ArcviewError: there is no such folder, or a file of labels cannot be read.
    """
    base = sidecar_root(sidecar)
    for row in scan(root):
        if row.overview is not None:
            folder = run_sidecar(base, row.overview.run_id) / "annotations"
            yield row, AnnotationStore(folder, row.overview.run_id, annotator)


def name_of_annotator(flag: str | None, environment: str | None, setting: str | None) -> str | None:
    """Whoever labels: the flag, else `ARCVIEW_ANNOTATOR`, else the setting; never guessed.

    Raises:
        ArcviewError: it is no name.
    """
    from arcview.annotations.store import checked_annotator

    name = flag or environment or setting
    return checked_annotator(name) if name else None
