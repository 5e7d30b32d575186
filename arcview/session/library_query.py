"""Which runs of a list are wanted, and in what order: words, fields, sorting and groups. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from arcview.analysis.overview import Overview
from arcview.errors import ArcviewError
from arcview.model.results import Verdict
from arcview.session.library import LibraryRow


class SortKey(StrEnum):
    """What a list is sorted by, in the order of the key."""

    PATH = "path"
    BAD_STAGE = "first bad stage"
    STAGES_PASSED = "stages passed"
    COST = "cost"
    TIME = "time"
    STARTED = "start"


class GroupKey(StrEnum):
    """What the rows of a list are grouped by, in the order of the key."""

    NOTHING = "nothing"
    TASK = "task"
    AGENT = "agent"
    ATTEMPT = "attempt"


class QueryError(ArcviewError):
    """A filter names a field or a value that does not exist."""


_STAGE = re.compile(r"stage(\d+)")
_TEXT_FIELDS: dict[str, Callable[[Overview], str | None]] = {
    "agent": lambda run: run.agent,
    "model": lambda run: run.model,
    "task": lambda run: run.task_id,
    "attempt": lambda run: run.attempt,
    "harness": lambda run: run.harness,
    "layout": lambda run: run.layout,
}
_VERDICTS = tuple(verdict.value for verdict in Verdict)
FIELDS = (*_TEXT_FIELDS, "status", "chain", "stage1 …", "bad", "path")
"""The names that a filter may use."""


@dataclass(frozen=True, slots=True)
class _Term:
    field: str | None
    value: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A filter: every term must hold. `agent:opus stage2:failed -timeout`."""

    terms: tuple[_Term, ...] = ()

    def holds(self, row: LibraryRow) -> bool:
        """Whether a run is wanted. Of a run that cannot be read only path and words are known."""
        return all(_holds(term, row) is term.wanted for term in self.terms)


def parse_query(text: str) -> Query:
    """Reads a filter; words are found anywhere, `-` before a term turns it round.

    Raises:
        QueryError: a field or a verdict does not exist.
    """
    return Query(tuple(_term(word) for word in text.split() if word != "-"))


def _term(word: str) -> _Term:
    wanted = not word.startswith("-")
    word = word if wanted else word[1:]
    field, colon, value = word.partition(":")
    name = field.lower()
    if not colon or not re.fullmatch(r"\w+", field):
        return _Term(None, word.casefold(), wanted)
    is_stage = _STAGE.fullmatch(name) is not None
    if not is_stage and name not in (*_TEXT_FIELDS, "status", "chain", "bad", "path"):
        raise QueryError(f"no field {field!r}; there are {', '.join(FIELDS)}")
    value = value.casefold()
    if (is_stage or name == "chain") and not any(v.startswith(value) for v in _VERDICTS):
        raise QueryError(f"{field} is one of {', '.join(_VERDICTS)}, not {value!r}")
    return _Term(name, value, wanted)


def _holds(term: _Term, row: LibraryRow) -> bool:
    run = row.overview
    if term.field is None:
        return term.value in _words(row)
    if term.field == "path":
        return term.value in row.name.casefold()
    if run is None:
        return False
    if term.field in _TEXT_FIELDS:
        return term.value in (_TEXT_FIELDS[term.field](run) or "").casefold()
    if term.field == "status":
        return run.status.value.startswith(term.value)
    if term.field == "bad":
        return term.value == ("none" if run.first_bad_stage is None else str(run.first_bad_stage))
    return _verdict(term.field, run).startswith(term.value)


def _verdict(field: str, run: Overview) -> str:
    """Empty where the run has no such gate, which no value begins with but the empty one."""
    if field == "chain":
        return run.chain_gate.judgement.verdict.value if run.chain_gate is not None else ""
    stage = run.stage(int(field.removeprefix("stage")))
    return stage.judgement.verdict.value if stage is not None else ""


def _words(row: LibraryRow) -> str:
    run = row.overview
    parts = [row.name, row.error]
    if run is not None:
        parts += [run.title, run.run_id, run.status.value, run.status_detail]
        parts += [get(run) for get in _TEXT_FIELDS.values()]
    return "\n".join(part for part in parts if part).casefold()


def group_of(row: LibraryRow, key: GroupKey) -> str:
    """The name of a row's group."""
    if row.overview is None:
        return "cannot be read"
    found = {
        GroupKey.TASK: row.overview.task_id,
        GroupKey.AGENT: row.overview.agent,
        GroupKey.ATTEMPT: row.overview.attempt,
    }.get(key)
    return found or "not recorded"


def in_order(
    rows: Iterable[LibraryRow], sort: SortKey, group: GroupKey, *, descending: bool = False
) -> list[LibraryRow]:
    """The rows by their group and then by the key; what is unknown comes last either way."""
    known = [(row, _value(row, sort)) for row in rows]
    by_value = [pair for pair in known if pair[1] is not None]
    by_value.sort(key=lambda pair: pair[0].name)
    by_value.sort(key=lambda pair: pair[1] or 0, reverse=descending)
    rest = sorted((row for row, value in known if value is None), key=lambda row: row.name)
    if sort is SortKey.PATH:
        ordered = sorted(rest, key=lambda row: row.name, reverse=descending)
    else:
        ordered = [*(row for row, _ in by_value), *rest]
    if group is not GroupKey.NOTHING:
        ordered.sort(key=lambda row: (row.overview is None, group_of(row, group)))
    return ordered


def _value(row: LibraryRow, sort: SortKey) -> float | None:
    run = row.overview
    if run is None:
        return None
    match sort:
        case SortKey.BAD_STAGE:
            return run.first_bad_stage
        case SortKey.STAGES_PASSED:
            return sum(stage.judgement.verdict is Verdict.PASSED for stage in run.stages)
        case SortKey.COST:
            return run.totals.cost_usd.known
        case SortKey.TIME:
            return run.totals.duration_s.known
        case SortKey.STARTED:
            return _seconds(run.started)
        case SortKey.PATH:
            return None


def _seconds(started: str | None) -> float | None:
    from datetime import UTC, datetime  # only who sorts by it needs it

    try:
        found = datetime.fromisoformat(started or "")
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
