"""What comes out of one gate run, by the names that the script gives it, whatever the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from arcview.gates.definition import ReportFile
from arcview.gates.engine import Collected, Job
from arcview.gates.read_reports import STREAM_STEP
from arcview.gates.script import RESULTS, STEPS_FILE, STREAM_LOG, Said, read_said, report_name


class Results:
    """The results of one job in its folder."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._files = {
            _local(number, report): report for number, report in enumerate(job.reports, 1)
        }
        self._said: Said | None = None

    def wanted(self) -> Mapping[str, Path]:
        """Name in the results of the script → where it goes."""
        names = {
            report_name(number): self._job.out / local
            for number, local in enumerate(self._files, 1)
        }
        own = (STEPS_FILE, STREAM_LOG)
        return names | {name: self._job.out / name for name in own}

    def still_wanted(self) -> Mapping[str, ReportFile]:
        """Reports that the script did not come to copy, by where they go."""
        if self.said().is_done:
            return {}
        return {n: r for n, r in self._files.items() if not (self._job.out / n).exists()}

    def reports(self) -> tuple[Collected, ...]:
        """The reports that came out; the script's own file goes."""
        (self._job.out / STEPS_FILE).unlink(missing_ok=True)
        found = [
            Collected(report, self._job.out / name)
            for name, report in self._files.items()
            if (self._job.out / name).is_file()
        ]
        stream = self._job.out / STREAM_LOG
        if stream.is_file():
            path = self._job.out / "report-stream.jsonl"
            stream.rename(path)
            own = ReportFile(f"{RESULTS}/{STREAM_LOG}", "pytest_reportlog", STREAM_STEP)
            found.append(Collected(own, path))
        return tuple(found)

    def said(self) -> Said:
        """What the script wrote of its steps."""
        path = self._job.out / STEPS_FILE
        if self._said is None and path.is_file():
            self._said = read_said(self._job, path.read_bytes())
        return self._said or Said()


def _local(number: int, report: ReportFile) -> str:
    """`report-1.xml`: our own number, the suffix that the gate gave it."""
    suffix = PurePosixPath(report.path).suffix
    return f"report-{number}{suffix if suffix[1:].isalnum() and len(suffix) < 12 else ''}"
