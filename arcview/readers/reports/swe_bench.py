"""Reads the `report.json` of SWE-bench, FeatureBench and their kin: lists of ids by group.

Writers: swebench/harness/grading.py, featurebench/harness/report.py, EvoClaw's evaluator. Must not
import pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import Gap, GateTest, Group, Outcome, Report, Verdict
from arcview.readers.fields import Fields
from arcview.readers.registry import Detection
from arcview.readers.reports.collect import merged

_GROUPS = {
    "FAIL_TO_PASS": Group.F2P,
    "NONE_TO_PASS": Group.F2P,
    "PASS_TO_PASS": Group.P2P,
}
_LISTS = {
    "success": (Outcome.PASSED, None),
    "failure": (Outcome.FAILED, "failure (failed, or not reported)"),
    "missing": (Outcome.MISSING, None),
}


class SweBenchReader:
    """Reads reports with `tests_status`."""

    id = "swe_bench"
    title = "SWE-bench or FeatureBench report.json"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises what the graders say of the patch or of the tests."""
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return None
        for key in (b'"patch_successfully_applied"', b'"tests_status"'):
            if key in head and (b'"resolved"' in head or b'"FAIL_TO_PASS"' in head):
                return Detection(self.id, f"an object with {key.decode()}")
        return None

    def read(self, path: Path) -> Report:
        """Reads the report of the one instance in a file.

        Raises:
            BadInputError: the file is not such a report, or holds several instances.
        """
        reports = read_instances(path)
        if len(reports) != 1:
            raise BadInputError(path.name, f"holds {len(reports)} instances, expected one")
        return next(iter(reports.values()))


def read_instances(path: Path) -> dict[str, Report]:
    """Reads every instance of a report; its id is empty where the file does not name it.

    Raises:
        BadInputError: the file is not such a report.
    """
    problems: list[Problem] = []
    root = Fields.json_file(path, path.name, problems)
    if "resolved" in root.values or "tests_status" in root.values:
        return {"": _report(root, problems)}
    instances = {
        name: _report(entry, problems)
        for name, entry in root.subs()
        if "resolved" in entry.values or "tests_status" in entry.values
    }
    if not instances:
        raise BadInputError(path.name, "expected resolved and tests_status for each instance")
    return instances


def _report(entry: Fields, problems: list[Problem]) -> Report:
    resolved = entry.flag("resolved")
    has_status = isinstance(entry.values.get("tests_status"), dict)
    status = entry.sub("tests_status")
    gaps = tuple(_gaps(entry, has_status))
    verdict = None
    if resolved is not None:
        verdict = Verdict.PASSED if resolved else Verdict.FAILED
    return Report(
        format=SweBenchReader.id,
        tests=merged(_tests(status)),
        gaps=gaps,
        recorded_verdict=verdict,
        notes=tuple(_notes(entry, status)),
        problems=tuple(problems),
    )


def _tests(status: Fields) -> Iterator[GateTest]:
    for name, lists in status.subs():
        group = _GROUPS.get(name, Group.OTHER)
        for key, (outcome, reported) in _LISTS.items():
            if not isinstance(lists.values.get(key), list):
                continue
            if "missing" in lists.values:
                reported = None  # who lists missing tests by themselves means failed ones
            for test_id in lists.texts(key):
                # What neither has to pass nor to stay is shown and never judged.
                extra = group is Group.OTHER
                yield GateTest(test_id, group, outcome, reported=reported, extra=extra)


def _gaps(entry: Fields, has_status: bool) -> Iterator[Gap]:
    if infra := entry.values.get("infra_failure"):  # newer versions; nothing else of it holds
        why = f": {infra}" if isinstance(infra, str) else ""
        yield Gap("", f"the harness reports a failure of its infrastructure{why}", own_doing=False)
    elif entry.flag("patch_is_None"):
        yield Gap("", "there is no patch")
    elif entry.flag("patch_exists") is False:
        yield Gap("", "the patch is empty")
    elif entry.flag("patch_successfully_applied") is False:
        yield Gap("", "the patch could not be applied")
    elif error := entry.text("error"):
        yield Gap("", f"error of the harness: {error}", own_doing=False)
    elif not has_status:
        yield Gap("", "the harness could read no results from its log", own_doing=False)


def _notes(entry: Fields, status: Fields) -> Iterator[str]:
    if (error := entry.text("error")) is not None:
        yield f"error: {error}"
    if "n_attempt" in entry.values:
        yield "the lists hold what the harness found in its log, not what the task expects"
    for name, lists in status.subs():
        count = lists.count("success_count") if "success_count" in lists.values else None
        if count and not isinstance(lists.values.get("success"), list):
            yield f"{name}: {count} passed, without names"
