"""One cache for all screen tests of a process: a run is read and its states are built once."""

from __future__ import annotations

import pytest

from tests.ui import screen_text


@pytest.fixture(autouse=True, scope="session")
def shared_run_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    screen_text.RUN_CACHE = tmp_path_factory.mktemp("run-cache")
