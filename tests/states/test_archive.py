"""Workspaces in archives: every compression, and what a hostile archive is refused for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from arcview.model.states import ArchiveSource, FolderSource
from arcview.states.archive import ArchiveError, Limits, read_archive
from arcview.states.objects import ObjectStore
from arcview.states.store import StateStore
from tests.states.workspaces import run_of, state, store_of, write_files


def member(name: str, content: bytes = b"x", **facts: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info, content


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", errors="surrogateescape") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content) if info.isreg() else None)
    return out.getvalue()


def archive_store(tmp_path: Path, data: bytes) -> tuple[StateStore, dict[str, str]]:
    """The store of a run with one archived state, and its problems by place."""
    (tmp_path / "workspace.tar").write_bytes(data)
    store = store_of(run_of(tmp_path, state("S1", ArchiveSource("workspace.tar"))))
    return store, {problem.where: problem.what for problem in store.ingest()}


def paths(store: StateStore) -> list[str]:
    return [entry.path for entry in store.entries("S1")]


@pytest.mark.parametrize(
    "compress",
    [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress],
    ids=["tar", "gz", "bz2", "xz", "zst"],
)
def test_every_compression_is_read(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = tar(member("./", type=tarfile.DIRTYPE), member("./a/b.py", b"one\r\n"))
    store, problems = archive_store(tmp_path, compress(data))
    assert problems == {}
    assert store.file("S1", "a/b.py") == b"one\r\n"


def test_archive_gives_the_same_tree_as_its_folder(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "w", {"a": b"1", "d/b": b"2", "link": "a", "d/caf\udce9": b"3"})
    (folder / "a").chmod(0o755)
    with tarfile.open(tmp_path / "workspace.tar", "w") as archive:
        archive.add(folder, ".")
    states = (state("S1", ArchiveSource("workspace.tar")), state("S2", FolderSource("w")))
    store = store_of(run_of(tmp_path, *states))
    assert store.ingest() == ()
    assert store.tree("S1") == store.tree("S2") is not None


def test_hard_link_is_the_file_it_links_to(tmp_path: Path) -> None:
    link = member("b", b"", type=tarfile.LNKTYPE, linkname="./a")
    store, _ = archive_store(tmp_path, tar(member("a", b"same", mode=0o755), link))
    assert store.file("S1", "b") == b"same"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (member("../evil"), "leads out of the workspace; left out"),
        (member("a/../../evil"), "leads out of the workspace; left out"),
        (member("/etc/evil"), "leads out of the workspace; left out"),
        (
            member("evil", b"", type=tarfile.CHRTYPE),
            "not a file, folder or symbolic link; left out",
        ),
        (
            member("evil", b"", type=tarfile.FIFOTYPE),
            "not a file, folder or symbolic link; left out",
        ),
        (
            member("evil", b"", type=tarfile.LNKTYPE, linkname="../../etc/passwd"),
            "a hard link to something that is not in the archive",
        ),
        (member("good/evil"), "both a file and a folder; the later one is left out"),
    ],
)
def test_bad_member_is_refused_by_name_and_the_rest_stays(
    tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes], reason: str
) -> None:
    store, problems = archive_store(tmp_path, tar(member("good"), bad, member("last")))
    assert problems == {f"workspace.tar: {bad[0].name}": reason}
    assert paths(store) == ["good", "last"]


def test_symlink_that_leads_out_is_kept_as_text_and_not_followed(tmp_path: Path) -> None:
    link = member("out", b"", type=tarfile.SYMTYPE, linkname="/etc")
    store, problems = archive_store(tmp_path, tar(link, member("out/passwd")))
    assert store.file("S1", "out") == b"/etc"
    assert list(problems) == ["workspace.tar: out/passwd"]


def test_nested_repository_in_an_archive_is_left_out_and_named(tmp_path: Path) -> None:
    data = tar(member(".git/config"), member("lib/.git/config"), member("lib/a"))
    store, problems = archive_store(tmp_path, data)
    assert paths(store) == ["lib/a"]
    assert list(problems) == ["workspace.tar"]


def test_later_member_replaces_an_earlier_one_of_its_name(tmp_path: Path) -> None:
    store, _ = archive_store(tmp_path, tar(member("a", b"old"), member("./a", b"new")))
    assert store.file("S1", "a") == b"new"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:700],
        lambda data: gzip.compress(data)[:-20],
        lambda data: lzma.compress(data)[:-20],
        lambda data: zstandard.ZstdCompressor().compress(data)[:-9],
        lambda data: b"\x28\xb5\x2f\xfd garbage",
        lambda data: b"no archive at all" * 99,
        lambda data: b"",
    ],
    ids=["tar", "gz", "xz", "zst", "zst garbage", "text", "nothing"],
)
def test_damaged_archive_is_a_missing_state_with_its_reason(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    data = tar(member("a", b"content" * 100), member("b", b"content" * 100))
    store, problems = archive_store(tmp_path, damage(data))
    assert store.tree("S1") is None
    assert problems["state S1"].startswith("workspace.tar: damaged")


@pytest.fixture
def objects(tmp_path: Path) -> Iterator[ObjectStore]:
    store = ObjectStore(tmp_path / "store.git")
    yield store
    store.flush()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(members=1), "more than 1 members"),
        (Limits(total_bytes=5), "more than 5 bytes unpacked"),
    ],
)
def test_archive_beyond_the_limits_is_refused_whole(
    tmp_path: Path, objects: ObjectStore, limits: Limits, reason: str
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar(member("a", b"1234"), member("b", b"1234")))
    with pytest.raises(ArchiveError, match=reason):
        read_archive(path, objects, lambda _: None, limits)


def test_size_is_refused_before_anything_is_read(tmp_path: Path, objects: ObjectStore) -> None:
    bomb, _ = member("bomb")
    bomb.size = 1 << 60
    path = tmp_path / "a.tar"
    path.write_bytes(bomb.tobuf() + b"\0" * 4096)
    with pytest.raises(ArchiveError, match="bytes unpacked"):
        read_archive(path, objects, lambda _: None)
