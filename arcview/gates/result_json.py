"""A rerun as JSON and back: the summary as result.json of the run format, a test a line beside it.

Loads no pydantic: the stored results are read while screens are up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import cast, get_args

from arcview.errors import BadInputError
from arcview.gates.engine import EngineInfo, EngineKind
from arcview.gates.results import RerunResult, ResultKey
from arcview.gates.sealed import Json, sealed, unsealed
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Group, GroupCounts, Outcome, Verdict
from arcview.readers.fields import Fields, parse_json
from arcview.schema.words import RESULT_VERSION

_COUNTS = tuple(part.name for part in fields(GroupCounts))
_TEXTS = ("message", "traceback", "stdout", "stderr", "reported", "evidence", "conflict")
_KINDS = get_args(EngineKind)


def summary_bytes(result: RerunResult, attempt: int, files: Mapping[str, str]) -> bytes:
    """result.json of one attempt, which ends in a checksum of itself.

    Args:
        result: The result.
        attempt: Its number.
        files: Name → SHA-256 of the files beside it.
    """
    values: Json = {
        "schema": RESULT_VERSION,
        "provenance": "rerun",
        "gate": result.gate,
        "state": result.label,
        "gate_digest": result.key.gate_digest,
        "tree": result.key.tree,
        "image_ref": result.image_ref,
        "image_digest": result.key.image,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "exit_codes": list(result.exit_codes),
        "timed_out": result.timed_out,
        "started": result.started,
        "duration_s": round(result.duration_s, 3),
        "overhead_s": round(result.overhead_s, 3),
        "f2p": _counts(result.f2p),
        "p2p": _counts(result.p2p),
        "other": _counts(result.other),
        "engine": _engine(result.engine),
        "arcview_version": result.arcview_version,
        "attempt": attempt,
        "notes": list(result.notes),
        "files": dict(files),
    }
    return sealed({name: value for name, value in values.items() if value is not None})


def tests_bytes(tests: Sequence[GateTest]) -> bytes:
    """tests.jsonl."""
    return "".join(f"{json.dumps(_test(test), ensure_ascii=True)}\n" for test in tests).encode()


def read_summary(data: bytes, shown: str, folder: Path) -> tuple[RerunResult, Mapping[str, str]]:
    """A stored attempt without its tests, and what the files beside it should hash to.

    Raises:
        BadInputError: it is damaged, changed by hand, or not ours.
    """
    values = unsealed(data, shown)
    found = Fields.of(values, shown, [])
    if found.text("schema") != RESULT_VERSION or found.text("provenance") != "rerun":
        raise BadInputError(shown, f"expected a rerun of schema {RESULT_VERSION}")
    codes = _exit_codes(values["exit_codes"], shown)
    files = found.sub("files").values
    if any("/" in name or not isinstance(digest, str) for name, digest in files.items()):
        raise BadInputError(shown, "expected names of files beside it, with their hashes", "files")
    reports = [name for name in files if name.startswith("report")]
    result = RerunResult(
        key=ResultKey(
            found.need_text("gate_digest"), found.need_text("tree"), found.need_text("image_digest")
        ),
        attempt=found.count("attempt") or 1,
        gate=found.need_text("gate"),
        label=found.need_text("state"),
        image_ref=found.text("image_ref"),
        verdict=Verdict(found.need_text("verdict")),
        reason=found.text("reason"),
        tests=(),
        f2p=_read_counts(found, "f2p"),
        p2p=_read_counts(found, "p2p"),
        other=_read_counts(found, "other"),
        exit_codes=codes,
        timed_out=bool(found.flag("timed_out")),
        started=found.need_text("started"),
        duration_s=found.number("duration_s") or 0.0,
        overhead_s=found.number("overhead_s") or 0.0,
        engine=_read_engine(found.sub("engine")),
        logs=tuple(folder / name for name in ("log.txt", *reports) if name in files),
        origins_file=folder / "origins.json.gz" if "origins.json.gz" in files else None,
        notes=tuple(found.texts("notes")),
        arcview_version=found.text("arcview_version") or "",
    )
    return result, cast("dict[str, str]", files)


def _exit_codes(value: object, shown: str) -> tuple[int | None, ...]:
    if isinstance(value, list) and all(type(code) in (int, type(None)) for code in value):
        return tuple(value)
    raise BadInputError(shown, "expected whole numbers", "exit_codes")


def read_tests(data: bytes, shown: str) -> tuple[GateTest, ...]:
    """The tests of a stored attempt.

    Raises:
        BadInputError: a line is no test.
    """
    tests = []
    for number, line in enumerate(data.splitlines(), 1):
        problems: list[Problem] = []
        entry = Fields.of(parse_json(line, shown), shown, problems)
        test_id = entry.text("id")  # a hostile report may leave it empty
        if test_id is None:
            raise BadInputError(shown, "expected the id of a test", f"line {number}")
        try:
            tests.append(
                GateTest(
                    id=test_id,
                    group=Group(entry.need_text("group")),
                    outcome=Outcome(entry.need_text("outcome")),
                    duration_s=entry.number("duration_s"),
                    extra=bool(entry.flag("extra")),
                    copies=entry.count("copies") or 1,
                    **{name: entry.text(name) for name in _TEXTS},
                )
            )
        except ValueError as error:
            raise BadInputError(shown, str(error), f"line {number}") from error
    return tuple(tests)


def problem_of(error: BadInputError) -> Problem:
    """A damaged result as a line beside the good ones."""
    return Problem(error.path, f"{error.expected}; not used")


def _counts(counts: GroupCounts | None) -> Json | None:
    if counts is None:
        return None
    values = {name: getattr(counts, name) for name in _COUNTS}
    return {name: value for name, value in values.items() if value or name == "expected"}


def _read_counts(found: Fields, key: str) -> GroupCounts | None:
    if key not in found.values:
        return None
    entry = found.sub(key)
    return GroupCounts(**{name: entry.count(name) or 0 for name in _COUNTS if name in entry.values})


def _test(test: GateTest) -> Json:
    line: Json = {"id": test.id, "group": test.group.value, "outcome": test.outcome.value}
    line["duration_s"] = test.duration_s
    line |= {name: getattr(test, name) for name in _TEXTS}
    line["extra"] = test.extra or None
    line["copies"] = test.copies if test.copies > 1 else None
    return {name: value for name, value in line.items() if value is not None}


def _engine(engine: EngineInfo) -> Json:
    return {
        "kind": engine.kind,
        "name": engine.name,
        "version": engine.version,
        "endpoint": engine.endpoint,
        "limits_enforced": not engine.limits_ignored,
        "enforced": list(engine.limits_enforced),
        "ignored": list(engine.limits_ignored),
        "notes": list(engine.notes),
    }


def _read_engine(entry: Fields) -> EngineInfo:
    kind = entry.text("kind")
    return EngineInfo(
        kind=cast("EngineKind", kind if kind in _KINDS else "docker"),
        name=entry.text("name") or "",
        version=entry.text("version") or "",
        endpoint=entry.text("endpoint") or "",
        limits_enforced=tuple(entry.texts("enforced")),
        limits_ignored=tuple(entry.texts("ignored")),
        notes=tuple(entry.texts("notes")),
    )
