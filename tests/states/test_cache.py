"""The cache folder: where it is, what it takes up, and that only our own part of it ever goes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from arcview.errors import ArcviewError, CancelledError
from arcview.states.cache import (
    RunCache,
    cache_root,
    cache_usage,
    clear,
    enforce_limit,
)


def cached(root: Path, name: str, *, opened: float, size_bytes: int = 100_000) -> RunCache:
    cache = RunCache.for_run(root.parent / "runs" / name, root)
    (cache.views / "view.json").write_bytes(b"x" * size_bytes)
    os.utime(cache.folder / "meta.json", (opened, opened))
    return cache


def test_own_variable_names_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARCVIEW_CACHE", str(tmp_path / "mine"))
    assert cache_root() == tmp_path / "mine"


def test_xdg_variable_comes_second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ARCVIEW_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "arcview"


def test_relative_xdg_variable_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ARCVIEW_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "arcview"


def test_links_to_one_run_share_one_cache(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    assert RunCache.for_run(tmp_path / "link") == RunCache.for_run(tmp_path / "run")


def test_runs_of_one_name_have_caches_of_their_own(tmp_path: Path) -> None:
    keys = {RunCache.for_run(tmp_path / agent / "task").key for agent in ("a", "b")}
    assert len(keys) == 2


def test_folder_with_an_odd_name_has_a_plain_key(tmp_path: Path) -> None:
    key = RunCache.for_run(tmp_path / os.fsdecode(b"r \xff/../..x")).key
    assert all(character.isalnum() or character in "-_" for character in key)


def test_only_the_user_can_look_into_the_cache(tmp_path: Path) -> None:
    cache = cached(tmp_path / "cache", "a", opened=1)
    for folder in (cache.root, cache.folder.parent, cache.folder, cache.views):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_unusable_root_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = RunCache.for_run(tmp_path / "run", tmp_path / "file" / "cache")
    with pytest.raises(ArcviewError, match=r"^.*file/cache: cannot be used .* ARCVIEW_CACHE"):
        cache.touch()


def test_usage_lists_the_least_recently_opened_first(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    new, old = cached(root, "new", opened=2000), cached(root, "old", opened=1000)
    usage = cache_usage(root)
    assert [run.key for run in usage.runs] == [old.key, new.key]
    assert usage.runs[0].path == str(tmp_path / "runs" / "old")
    assert usage.total_bytes >= 200_000


def test_opening_moves_a_run_to_the_end(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    first, second = cached(root, "first", opened=1000), cached(root, "second", opened=2000)
    first.touch()
    assert [run.key for run in cache_usage(root).runs] == [second.key, first.key]


def test_limit_evicts_the_oldest_first_and_no_more_than_needed(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    caches = [cached(root, str(age), opened=age) for age in (1, 2, 3)]
    limit = cache_usage(root).total_bytes - 1
    freed = enforce_limit(root, limit)
    assert [cache.folder.exists() for cache in caches] == [False, True, True]
    assert freed >= 100_000


def test_limit_spares_the_run_to_keep(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    kept, other = cached(root, "kept", opened=1), cached(root, "other", opened=2)
    enforce_limit(root, 0, keep=kept.key)
    assert (kept.folder.exists(), other.folder.exists()) == (True, False)


def test_run_that_is_open_somewhere_is_not_evicted(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    cache = cached(root, "open", opened=1)
    descriptor = cache.hold()
    assert clear(root) == 0
    os.close(descriptor)
    assert clear(root) > 0


def test_clear_removes_one_run_when_asked_for_one(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    one, other = cached(root, "one", opened=1), cached(root, "other", opened=2)
    clear(root, tmp_path / "runs" / "one")
    assert (one.folder.exists(), other.folder.exists()) == (False, True)


def test_nothing_is_removed_from_a_root_that_is_not_ours(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    cache = cached(root, "a", opened=1)
    (root / "CACHEDIR.TAG").unlink()
    assert (clear(root), cache.folder.exists()) == (0, True)


def test_foreign_files_in_the_root_stay(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    cached(root, "a", opened=1)
    foreign = [root / "notes.txt", root / "runs" / "notes.txt", root / "runs" / "my-run"]
    foreign[0].write_bytes(b"x")
    foreign[1].write_bytes(b"x")
    foreign[2].mkdir()
    (tmp_path / "precious").mkdir()
    (root / "runs" / f"link-{'0' * 16}").symlink_to(tmp_path / "precious")
    clear(root)
    assert [path.exists() for path in foreign] == [True, True, True]
    assert (tmp_path / "precious").exists()


def test_what_an_interrupted_removal_left_goes_with_the_next_one(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    cache = cached(root, "a", opened=1)
    rest = cache.folder.with_name(f".{cache.key}.{'0' * 12}")
    rest.mkdir()
    clear(root)
    assert not rest.exists()


def test_absent_root_is_empty(tmp_path: Path) -> None:
    assert cache_usage(tmp_path / "none").runs == ()


def test_damaged_meta_file_still_counts_and_can_be_removed(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    cache = cached(root, "a", opened=1)
    (cache.folder / "meta.json").write_bytes(b"[")
    assert [run.path for run in cache_usage(root).runs] == [None]
    assert clear(root) > 0


def test_waiting_for_another_ingest_can_be_cancelled(tmp_path: Path) -> None:
    cache = cached(tmp_path / "cache", "a", opened=1)
    with (
        cache.ingesting(),
        pytest.raises(CancelledError),
        cache.ingesting(cancelled=lambda: True),
    ):
        pass
