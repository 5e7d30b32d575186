"""Writes the states of a run as one git bundle with a ref per state, from the store's own trees.

Steps that were recorded on the way to a state become commits that name them. What is only a patch
stays a patch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.git import Git
from arcview.model.run import Run
from arcview.model.states import PatchSource, State, StateKind
from arcview.states.objects import ObjectStore
from arcview.states.recorded import patch_bytes
from arcview.states.store import StateStore
from arcview.states.survey import may_read

REF = "refs/arcview/"


def write_bundle(
    states: Sequence[State], store: StateStore, objects: Path, out: Path, scratch: Path
) -> tuple[str, ...]:
    """Writes a bundle of every state that has a tree.

    Args:
        states: The states, in order; a start state first.
        store: Where their trees are.
        objects: The `objects` folder of the store.
        out: The bundle to write.
        scratch: A folder for a repository that is only needed meanwhile.

    Returns:
        The ids of the states that are in it; without any nothing is written.

    Raises:
        ArcviewError: something cannot be written.
        GitError: git is missing or fails.
    """
    there = [(state, tree) for state in states if (tree := store.tree(state.id)) is not None]
    if not there:
        return ()
    writer = ObjectStore(scratch)
    try:
        writer.borrow(objects)
        refs = _write_commits(writer, there, store)
    finally:
        writer.flush()
    refs.sort(key=lambda line: line[41:])
    text = "\n".join(["# pack-refs with: sorted", *refs, ""])
    (scratch / "packed-refs").write_text(text, encoding="utf-8", errors="surrogateescape")
    names = [line[41:] for line in refs]
    Git(scratch).run(["bundle", "create", "-q", str(out.absolute()), *names])
    return tuple(state.id for state, _ in there)


def _write_commits(
    writer: ObjectStore, states: Sequence[tuple[State, str]], store: StateStore
) -> list[str]:
    """A commit for every state and every step on the way to it; the refs, as git packs them."""
    refs: list[str] = []
    parent: str | None = None
    for order, (state, tree) in enumerate(states):
        commit = None
        last = None
        for step in store.step_states(state.id):
            key = f"\n\nStep-Key: {step.key}" if step.key is not None else ""
            above = commit or parent
            commit = writer.write_commit(
                step.tree, [] if above is None else [above], order, f"{step.id}{key}"
            )
            last = step.tree
        if last != tree:
            # On top of the state before, a commit would count as a step that nobody watched.
            parents = [] if commit is None else [commit]
            commit = writer.write_commit(tree, parents, order, state.id)
        parent = commit
        refs.append(f"{parent} {REF}{state.id}")
    return refs


def folder_of(state: State) -> str:
    """Where the parts of a state lie in a run folder of ours."""
    if state.kind is StateKind.BETWEEN:
        return f"stages/{state.id.removeprefix('S')}"
    return f"stages/{state.stage}"


def write_patch(run: Run, state: State, out: Path) -> str | None:
    """Copies the patch of a state that is nothing but one; its place in the run folder, or null.

    Raises:
        ArcviewError: the patch cannot be read any more.
    """
    source = state.source
    if not isinstance(source, PatchSource) or not may_read(run, state, source):
        return None
    name = f"{folder_of(state)}/stage.patch"
    try:
        data = patch_bytes(Path(run.path) / source.path, source)
    except OSError as error:
        raise ArcviewError(f"{source.path}: cannot be read: {error.strerror}") from error
    place = out / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return name
