from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.gates.collect import list_files, read_member, take
from arcview.states.archive import Limits


def chunks(data: bytes, size: int = 700) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def tar(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_of_hostile_members_only_the_plain_file_comes_out(cases: Path, tmp_path: Path) -> None:
    data = (cases / "hostile" / "docker" / "k08_hostile_members.tar").read_bytes()
    out = tmp_path / "out"
    out.mkdir()
    names = ("ok.txt", "../escape.txt", "/abs.txt", "ln", "hard", "dev")
    wanted = {name: out / f"file-{number}" for number, name in enumerate(names)}
    taken = take(chunks(data), wanted)
    assert taken.names == ("ok.txt",)
    assert set(taken.refused) == {"../escape.txt", "/abs.txt", "ln", "hard", "dev"}
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "file-0"]


def test_what_nobody_asked_for_is_not_written(tmp_path: Path) -> None:
    taken = take(chunks(tar(res__a=b"1", res__b=b"2")), {"res/b": tmp_path / "b"})
    assert (taken.names, (tmp_path / "b").read_bytes()) == (("res/b",), b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_stream_that_is_cut_keeps_what_came_before(tmp_path: Path) -> None:
    data = tar(a=b"x" * 10, b=b"y" * 100_000)
    wanted = {"a": tmp_path / "a", "b": tmp_path / "b"}
    taken = take(chunks(data[:20_000]), wanted)
    assert taken.damage is not None
    assert (tmp_path / "a").read_bytes() == b"x" * 10


def test_results_beyond_the_limits_are_not_taken(tmp_path: Path) -> None:
    data = tar(a=b"x" * 5000)
    taken = take(chunks(data), {"a": tmp_path / "a"}, Limits(members=10, total_bytes=4000))
    assert taken.damage == "more than results may be"
    assert not (tmp_path / "a").exists()


def test_files_of_a_folder_are_listed_without_its_name() -> None:
    data = tar(repo__a=b"", repo__x__b=b"1")
    assert list_files(chunks(data)) == {"a", "x/b"}
    with pytest.raises(ArcviewError, match="too large"):
        list_files(chunks(data), Limits(members=1))


def test_the_content_of_one_file_is_read() -> None:
    assert read_member(chunks(tar(passwd=b"root:x:0:0"))) == b"root:x:0:0"
    assert read_member(chunks(tar())) == b""
