from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcview.analysis.gate_view import GateView
from arcview.analysis.overview import Overview
from arcview.analysis.search_words import required_word
from arcview.model.patch import FilePatch
from arcview.model.run import Run
from arcview.model.states import (
    ArchiveSource,
    BundleSource,
    FolderSource,
    Provenance,
    State,
    StateKind,
)
from arcview.model.trajectory import ToolCall, ToolKind, Trajectory
from arcview.session import view_cache
from arcview.session.view_cache import ViewCache, codec_for

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
st.register_type_strategy(object, json_values)
# JSON has no NaN; lone surrogates do come from real logs and must survive.
st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(
    Sequence, lambda type_: st.lists(st.from_type(get_args(type_)[0]), max_size=3).map(tuple)
)
st.register_type_strategy(str, st.text(st.characters(), max_size=8))


def round_trip(type_: type, value: object) -> object:
    codec = codec_for(type_)
    return codec.decode(json.loads(json.dumps(codec.encode(value))))


@pytest.mark.parametrize(
    "type_",
    [State, ToolCall, Run, Overview, GateView, Trajectory, FilePatch],
    ids=lambda t: t.__name__,
)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_cached_type_survives_the_cache(type_: type, data: st.DataObject) -> None:
    value = data.draw(st.from_type(type_))
    assert round_trip(type_, value) == value


@pytest.mark.parametrize(
    "source", [FolderSource("a"), ArchiveSource("a"), BundleSource("a", "refs/x"), None]
)
def test_members_of_a_union_keep_their_type(
    source: FolderSource | ArchiveSource | BundleSource | None,
) -> None:
    state = State("S1", 1, StateKind.STAGE_END, Provenance.RECORDED, source=source)
    assert round_trip(State, state) == state


@dataclass(frozen=True)
class Plain:
    name: str
    kind: Literal["a", "b"] = "a"
    sizes: tuple[int, str] = (0, "")
    many: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Odd:
    names: set[str]


def test_defaults_at_the_end_of_a_row_are_left_out() -> None:
    assert codec_for(Plain).encode(Plain("x")) == ["x"]
    assert codec_for(Plain).encode(Plain("x", "b")) == ["x", "b"]


def test_a_type_that_json_cannot_hold_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="no codec"):
        codec_for(Odd)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    views = ViewCache(tmp_path / "views", "1")
    views.save("a view", Plain, "stamp", Plain("é\ud800"))
    assert views.load("a view", Plain, "stamp") == Plain("é\ud800")
    assert views.load("a view", Plain, None) == Plain("é\ud800")


@pytest.mark.parametrize(
    ("version", "name", "stamp"),
    [("2", "v", "stamp"), ("1", "other", "stamp"), ("1", "v", "later")],
)
def test_another_version_name_or_stamp_counts_as_absent(
    tmp_path: Path, version: str, name: str, stamp: str
) -> None:
    ViewCache(tmp_path, "1").save("v", Plain, "stamp", Plain("x"))
    assert ViewCache(tmp_path, version).load(name, Plain, stamp) is None


@dataclass(frozen=True)
class Changed:
    name: str
    renamed: Literal["a", "b"] = "a"


def test_a_changed_schema_counts_as_absent(tmp_path: Path) -> None:
    views = ViewCache(tmp_path, "1")
    views.save("v", Plain, "stamp", Plain("x"))
    assert views.load("v", Changed, "stamp") is None


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_counts_as_absent(tmp_path: Path, damage: bytes) -> None:
    views = ViewCache(tmp_path, "1")
    views.save("v", Plain, "stamp", Plain("x"))
    (tmp_path / "v.json").write_bytes(damage)
    assert views.load("v", Plain, "stamp") is None


@pytest.mark.parametrize("value", ["null", "[]", "[1,2,3,4,5,6]", '[["x"],"a",[[]]]', "3"])
def test_a_damaged_value_counts_as_absent(tmp_path: Path, value: str) -> None:
    views = ViewCache(tmp_path, "1")
    views.save("v", Plain, "stamp", Plain("x"))
    file = tmp_path / "v.json"
    file.write_text(file.read_text().replace('["x"]', value))
    assert views.load("v", Plain, "stamp") is None


def test_names_from_a_run_stay_inside_the_folder(tmp_path: Path) -> None:
    views = ViewCache(tmp_path / "views", "1")
    for name in ("../../x", "a/b", "..", "\ud800", "x\n"):
        views.save(name, Plain, "s", Plain("x"))
        assert views.load(name, Plain, "s") == Plain("x")
    assert {path.name for path in tmp_path.iterdir()} == {"views"}


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "views").write_text("a file stands where the folder should")
    views = ViewCache(tmp_path / "views", "1")
    views.save("v", Plain, "s", Plain("x"))
    assert views.load("v", Plain, "s") is None


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(), max_size=40), st.text("aiksx_07é\n", min_size=3, max_size=6))
def test_a_kept_view_lacks_no_word_that_its_text_holds(
    tmp_path: Path, before: str, word: str
) -> None:
    cache = ViewCache(tmp_path / "views", "1")
    text = f"{before}{word.upper()}"
    cache.save("steps-1", ToolCall, "stamp", ToolCall("k", "Bash", ToolKind.SHELL, {"c": [text]}))
    certain = required_word(word)

    assert certain is None or not cache.lacks("steps-1", ToolCall, "stamp", certain)


def test_a_letter_that_folds_to_another_is_found_too(tmp_path: Path) -> None:
    cache = ViewCache(tmp_path / "views", "1")
    cache.save("steps-1", str, "stamp", "Kelvin's \u212a")

    assert not cache.lacks("steps-1", str, "stamp", "kkk")


@pytest.mark.parametrize(("name", "stamp"), [("steps-2", "stamp"), ("steps-1", "before")])
def test_what_is_not_kept_may_hold_any_word(tmp_path: Path, name: str, stamp: str) -> None:
    cache = ViewCache(tmp_path / "views", "1")
    cache.save("steps-1", str, "stamp", "text")

    assert not cache.lacks(name, str, stamp, "other")


def test_a_word_across_two_pieces_of_a_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_cache, "_CHUNK", 5)
    cache = ViewCache(tmp_path / "views", "1")
    cache.save("steps-1", str, "stamp", "some text with a needle in it")

    assert not cache.lacks("steps-1", str, "stamp", "needle")
    assert cache.lacks("steps-1", str, "stamp", "needles")
