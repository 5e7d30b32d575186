"""A pytest plugin that runs inside a gate's container: writes each test's report as it comes.

The records are those of pytest-reportlog, so that one reader reads both. A report that is written
at the end is lost when a test ends the process; this one is not. Stands alone and must import
nothing of arcview: any pytest from 6 on and any Python from 3.7 on runs it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_PATH = os.environ.pop("ARCVIEW_REPORT_LOG", None)
_OWN_OPTIONS = "-p arcview_reportlog"


def _hide() -> None:
    """Programs that tests start, another pytest among them, do not find us in the environment."""
    own = str(Path(__file__).parent)
    options = os.environ.get("PYTEST_ADDOPTS", "").replace(_OWN_OPTIONS, "", 1).strip()
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p != own]
    for name, value in (("PYTEST_ADDOPTS", options), ("PYTHONPATH", os.pathsep.join(paths))):
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)


class _Log:
    """The open log; every record is on the disk before the next test starts."""

    def __init__(self, config: Any, path: str) -> None:
        self._config = config
        self._file = Path(path).open("w", buffering=1, encoding="utf-8")  # noqa: SIM115

    def _write(self, record: dict[str, Any]) -> None:
        try:
            text = json.dumps(record)
        except (TypeError, ValueError):  # properties of other plugins
            text = json.dumps(record, default=str, skipkeys=True)
        self._file.write(text + "\n")

    def pytest_sessionstart(self) -> None:
        import pytest

        self._write({"pytest_version": pytest.__version__, "$report_type": "SessionStart"})

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write({"exitstatus": int(exitstatus), "$report_type": "SessionFinish"})

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._report(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._report(report)

    def _report(self, report: Any) -> None:
        record = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        if record is not None:
            self._write(record)

    def pytest_unconfigure(self) -> None:
        self._file.close()


def pytest_configure(config: Any) -> None:
    """Opens the log in the main process, not in workers of xdist."""
    _hide()
    if _PATH is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Log(config, _PATH), "arcview-reportlog-file")
