"""Reads Inspect logs: `.eval` archives, finished or killed, and plain JSON logs.

A log holds one run per sample and epoch. Each becomes a session of its own; they are shown in the
order of the dataset. One sample at a time is unpacked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import open_file
from arcview.model.problem import Problem
from arcview.model.trajectory import Role, Session, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.documents import parse_document, peek
from arcview.readers.trajectories.inspect_log_archive import Archive, EntryError
from arcview.readers.trajectories.inspect_log_events import SampleWalk, usage_of
from arcview.readers.trajectories.inspect_log_sample import (
    Sample,
    SampleName,
    sample_names,
    sliced_sample,
    whole_sample,
)
from arcview.readers.trajectories.pairing import Pairing, counted, numbered
from arcview.readers.trajectories.records import Record, text_or_none
from arcview.readers.trajectories.usages import added

_ZIP = b"PK\x03\x04"
_ENTRIES = (b"_journal/", b"header.json", b"samples/")
_KEYS = frozenset({"version", "status", "eval"})
_OF_EVAL = frozenset({"dataset", "model", "task"})
_IDS = frozenset({"eval_id", "run_id", "task_id"})
"""Fields of `eval` that tell a log whose status comes after its samples."""
_HEADER, _START = "header.json", "_journal/start.json"


class InspectLogReader:
    """Reads `.eval` files and JSON logs."""

    id = "inspect_log"
    title = "Inspect log"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the entries of the archive, or the fields that every JSON log begins with."""
        if head.startswith(_ZIP):
            entry = next((entry for entry in _ENTRIES if entry in head), None)
            return entry and Detection(self.id, f"a zip archive with {entry.decode()}")  # type: ignore[return-value]
        value = peek(head)
        spec = value.get("eval") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(spec, dict):
            if value.keys() >= _KEYS:
                return Detection(self.id, "an object with version, status and eval")
            if spec.keys() >= _OF_EVAL and _IDS & spec.keys():
                return Detection(self.id, "an object with the task, model and data of an eval")
        return None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a log, and more logs after it; damage never raises."""
        log = _Log()
        for file in (path, *companions):
            log.take(file)
        return log.trajectory(self.id)


class _Log:
    """What several logs give together."""

    def __init__(self) -> None:
        self.pairing = Pairing()
        self.sessions: list[Session] = []
        self.problems: list[Problem] = []
        self.unknown: Counter[str] = Counter()
        self.header: Record = {}
        self.totals: list[Usage] = []

    def take(self, path: Path) -> None:
        try:
            with open_file(path) as file:
                is_archive = file.read(len(_ZIP)) == _ZIP
            if is_archive:
                with Archive(path) as archive:
                    self._archive(archive, path)
            else:
                self._document(read_unpacked(path, str(path)), path)
        except BadInputError as error:
            self.problems.append(Problem(error.path, error.expected))
        except EntryError as error:
            self.problems.append(Problem(str(path), str(error)))
        except OSError as error:
            self.problems.append(Problem(str(path), f"cannot be read: {error.strerror}"))

    def _archive(self, archive: Archive, path: Path) -> None:
        names = archive.names
        if archive.is_cut:
            what = f"the archive is cut off: {len(names)} whole entries are kept"
            self.problems.append(Problem(str(path), what))
        header = _HEADER if _HEADER in names else _START
        if header == _START:
            what = "no header.json: the evaluation was ended before its log was finished"
            self.problems.append(Problem(str(path), what))

        def load(entry: str) -> object:
            return self._entry(archive, entry, path)

        self._begin(mapping(load(header)) if header in names else {}, path)
        for name in _ordered(sample_names(names), mapping(self.header.get("eval"))):
            if name.is_sliced:
                sample = sliced_sample(name, names, load)
            else:
                sample = whole_sample(mapping(load(name.entry)))
            self._sample(sample, name, path)

    def _entry(self, archive: Archive, entry: str, path: Path) -> object:
        """The value of an entry; null, with a problem, for one that cannot be read."""
        try:
            document = parse_document(archive.load(entry), f"{path}: {entry}")
        except EntryError as error:
            self.problems.append(Problem(f"{path}: {entry}", str(error)))
            return None
        self.problems += document.problems
        return document.value

    def _document(self, data: bytes, path: Path) -> None:
        document = parse_document(data, str(path), ("samples",))
        del data
        self.problems += document.problems
        value = document.value
        if not isinstance(value, dict) or not isinstance(value.get("eval"), dict):
            if value is not None or not document.problems:
                what = "not a trajectory: expected an object with eval and samples"
                self.problems.append(Problem(str(path), what))
            return
        self._begin(value, path)
        samples = [mapping(sample) for sample in listed(value.get("samples"))]
        names = {
            SampleName(str(s.get("id")), e if type(e := s.get("epoch")) is int else 1, str(n)): s
            for n, s in enumerate(samples)
        }
        for name in _ordered([*names], mapping(value.get("eval"))):
            self._sample(whole_sample(names[name]), name, path)
        if "samples" not in value:
            self.problems.append(Problem(str(path), "the log holds no samples, only its header"))

    def _begin(self, header: Record, path: Path) -> None:
        self.header = header
        spec = mapping(header.get("eval"))
        self.totals += _by_model(mapping(header.get("stats")))
        facts = [
            ("task", spec.get("task")),
            ("model", spec.get("model")),
            ("inspect_ai", mapping(spec.get("packages")).get("inspect_ai")),
            ("created", spec.get("created")),
            ("status", header.get("status")),
        ]
        told = ", ".join(f"{name} {value}" for name, value in facts if value)
        error = text_or_none(mapping(header.get("error")).get("message"))
        text = "\n".join(filter(None, (f"evaluation: {told}", error)))
        key = f"{path.name}#start"
        step = Step(key, None, Role.UNKNOWN, StepKind.NOTE, text, is_error=error is not None)
        self.pairing.add(step)

    def _sample(self, sample: Sample, name: SampleName, path: Path) -> None:
        if not sample.record and not sample.events:
            return
        session = name.id if name.epoch == 1 else f"{name.id} (epoch {name.epoch})"
        started = text_or_none(sample.record.get("started_at"))
        key = f"{path.name}#{session}"
        told = f"sample {name.id}, epoch {name.epoch}"
        self.pairing.close()
        self.pairing.add(
            Step(
                f"{key}#start", None, Role.UNKNOWN, StepKind.NOTE, told,
                at=started, session=session,
            )
        )  # fmt: skip
        before = len(self.pairing.steps)
        model = text_or_none(mapping(self.header.get("eval")).get("model"))
        walk = SampleWalk(key, session, sample, self.pairing, self.unknown, model)
        walk.take()
        own = counted([step for step in self.pairing.steps[before:] if step.agent is None])
        self.sessions.append(Session(session, SessionRole.MAIN, own, _scores(sample)))
        self.sessions += (
            Session(f"{session}/{agent}", SessionRole.SUBAGENT, steps)
            for agent, steps in walk.agents.items()
        )
        if not _by_model(mapping(self.header.get("stats"))):
            self.totals += _by_model(sample.record)

    def trajectory(self, format_id: str) -> Trajectory:
        spec = mapping(self.header.get("eval"))
        return Trajectory(
            format=format_id,
            steps=numbered(self.pairing.steps),
            sessions=tuple(self.sessions),
            problems=tuple(self.problems),
            unknown_records=tuple(sorted(self.unknown.items())),
            usage=added(self.totals),
            agent=text_or_none(spec.get("solver")),
            model=text_or_none(spec.get("model")),
            exit_status=text_or_none(self.header.get("status")),
        )


def _by_model(record: Record) -> list[Usage]:
    """The usage of each model that a sample or a whole log counts."""
    usages = mapping(record.get("model_usage")).values()
    return [usage for given in usages if (usage := usage_of(mapping(given))) is not None]


def _scores(sample: Sample) -> str | None:
    """The scores of a sample in one line."""
    scores = mapping(sample.record.get("scores"))
    told = [f"{name} {mapping(score).get('value')}" for name, score in scores.items()]
    return ", ".join(told) or None


def _ordered(names: Sequence[SampleName], spec: Record) -> Iterator[SampleName]:
    """The samples in the order of the dataset; those it does not list come last."""
    ids = listed(mapping(spec.get("dataset")).get("sample_ids"))
    places = {str(sample_id): place for place, sample_id in enumerate(ids)}
    return iter(sorted(names, key=lambda name: (places.get(name.id, len(places)), name.epoch)))
