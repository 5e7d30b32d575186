"""What comes out of one gate run, by the names that the script gives it, whatever the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from arcview.gates.definition import ReportFile
from arcview.gates.engine import Collected, Job
from arcview.gates.read_reports import STREAM_STEP
from arcview.gates.script import RESULTS, STEPS_FILE, STREAM_LOG, Said, read_said, report_name

_SAID_BYTES = 1 << 20


class Results:
    """The results of one job in its folder."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._files = {
            _local(number, report): report for number, report in enumerate(job.reports, 1)
        }
        self._said: Said | None = None
        self._large: list[str] = []

    @property
    def large(self) -> tuple[str, ...]:
        """Paths of declared reports that are too large to be taken."""
        return tuple(dict.fromkeys(self._large))

    def wanted(self) -> Mapping[str, Path]:
        """Name in the results of the script → where it goes."""
        names = {
            report_name(number): self._job.out / local
            for number, local in enumerate(self._files, 1)
        }
        own = (STEPS_FILE, STREAM_LOG)
        return names | {name: self._job.out / name for name in own}

    def still_wanted(self) -> tuple[tuple[str, Path, ReportFile], ...]:
        """Reports that the script did not copy: each by its name there, and where it goes."""
        said = self.said()
        return tuple(
            (report_name(number), self._job.out / local, report)
            for number, (local, report) in enumerate(self._files.items(), 1)
            if (not said.is_done or number in said.uncopied)
            and not (self._job.out / local).exists()
        )

    def note_large(self, name: str, *, is_large: bool) -> None:
        """Notes by its name in the results whether a report is too large to be taken."""
        report = dict(zip(self.wanted(), self._files.values(), strict=False)).get(name)
        if is_large and report is not None:
            self._large.append(report.path)

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
            with path.open("rb") as file:  # the tested code may have made it as large as it likes
                self._said = read_said(self._job, file.read(_SAID_BYTES))
        return self._said or Said()


def _local(number: int, report: ReportFile) -> str:
    """`report-1.xml`: our own number, the suffix that the gate gave it."""
    suffix = PurePosixPath(report.path).suffix
    return f"report-{number}{suffix if suffix[1:].isalnum() and len(suffix) < 12 else ''}"
