"""The object store that arcview writes itself, judged by git."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.git import Git
from arcview.states import objects as objects_module
from arcview.states.objects import Leaf, ObjectStore, SourceError
from tests.states.workspaces import git


def fsck(path: Path) -> bytes:
    return git(path, "fsck", "--full", "--strict", "--no-dangling")


@pytest.mark.parametrize("size_bytes", [0, 1, 15, 16, 2047, 2048, 300_000])
def test_object_of_any_size_is_read_by_git(tmp_path: Path, size_bytes: int) -> None:
    store = ObjectStore(tmp_path)
    oid = store.write("blob", b"x" * size_bytes)
    store.flush()
    assert Git(tmp_path).run(["cat-file", "blob", oid]) == b"x" * size_bytes
    assert fsck(tmp_path) == b""


def test_ids_are_those_of_git(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    oid = store.write("blob", b"some bytes\r\n")
    store.flush()
    plain = git(tmp_path, "hash-object", "--stdin", stdin=b"some bytes\r\n")
    assert oid == plain.decode().strip()


def test_offsets_beyond_two_gibibytes_have_their_own_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcview.states.packs._LARGE_OFFSET", 60)
    store = ObjectStore(tmp_path)
    oids = [store.write("blob", b"%d" % number * 20) for number in range(9)]
    store.flush()
    contents = [Git(tmp_path).run(["cat-file", "blob", oid]) for oid in oids]
    assert contents == [b"%d" % number * 20 for number in range(9)]
    assert fsck(tmp_path) == b""


def test_object_is_stored_once(tmp_path: Path) -> None:
    first = ObjectStore(tmp_path)
    first.write("blob", b"x")
    first.flush()
    again = ObjectStore(tmp_path)
    again.write("blob", b"x")
    again.flush()
    assert len(list((tmp_path / "objects" / "pack").glob("*.pack"))) == 1


def test_stream_that_ends_early_leaves_the_store_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects_module, "WHOLE_BYTES", 10)
    store = ObjectStore(tmp_path)
    with pytest.raises(SourceError, match="it ends early"):
        store.write_stream(io.BytesIO(b"x" * 25), 30)
    oid = store.write_stream(io.BytesIO(b"y" * 25), 25)
    assert store.write_stream(io.BytesIO(b"y" * 25), 25) == oid
    store.flush()
    assert Git(tmp_path).run(["cat-file", "blob", oid]) == b"y" * 25
    assert fsck(tmp_path) == b""


def test_nothing_is_visible_before_the_flush(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    store.write("blob", b"x")
    assert list((tmp_path / "objects" / "pack").glob("*.idx")) == []
    store.flush()
    assert len(list((tmp_path / "objects" / "pack").glob("*.idx"))) == 1


def test_rest_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    ObjectStore(tmp_path).flush()
    rest = tmp_path / "objects" / "pack" / "tmp_pack_0123"
    rest.write_bytes(b"x")
    ObjectStore(tmp_path).flush()
    assert not rest.exists()


def test_store_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArcviewError, match=r"^.*file/store: cannot be written: [^\n]+$"):
        ObjectStore(tmp_path / "file" / "store")


def test_folders_sort_as_if_they_ended_in_a_slash(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    blob = store.write("blob", b"")
    paths = [b"a/x", b"a-b", b"a.b", b"a0"]
    tree = store.write_tree(Leaf(path, "100644", blob) for path in paths)
    store.flush()
    listed = Git(tmp_path).run(["ls-tree", "--name-only", tree])
    assert listed == b"a-b\na.b\na\na0\n"
    assert fsck(tmp_path) == b""


def test_commits_are_the_same_every_time(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path)
    tree = store.write_tree([])
    ids = {store.write_commit(tree, [], 3, "S3") for _ in range(2)}
    store.flush()
    assert len(ids) == 1
    assert fsck(tmp_path) == b""
