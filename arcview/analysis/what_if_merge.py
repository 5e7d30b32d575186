"""Merges a Python file three ways by its top-level blocks, where lines cannot be merged. Pure.

A block that both sides changed is merged line by line, or not at all; nothing is ever taken over a
whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from arcview.analysis.what_if_blocks import Block, BlockError, ImportedName, Module

MergeText = Callable[[str, str, str], str | None]
"""Base, ours, theirs → merged line by line, or null where that conflicts."""


@dataclass(frozen=True, slots=True)
class _Sides:
    base: Module
    ours: Module
    theirs: Module


def merge_modules(base: str, ours: str, theirs: str, merge_text: MergeText) -> str:
    """Puts the blocks that `theirs` changed since `base` into `ours`.

    Args:
        base: The file that both come from; empty where both added it.
        ours: The file that is changed.
        theirs: The file that has the change.
        merge_text: Merges one block that both sides changed.

    Raises:
        BlockError: one line that says what cannot be merged.
    """
    sides = _Sides(Module.parse(base), Module.parse(ours), Module.parse(theirs))
    blocks = _kept(sides, merge_text)
    blocks = _with_added(blocks, sides)
    blocks = _with_imports(blocks, sides)
    return in_order(Module(tuple(blocks), sides.ours.tail)).text


def _kept(sides: _Sides, merge_text: MergeText) -> list[Block]:
    """What becomes of the blocks of `ours`."""
    _check_unnamed(sides)
    gone = {b.dump for b in _unnamed(sides.base)} - {b.dump for b in _unnamed(sides.theirs)}
    found: list[Block] = []
    for block in sides.ours.blocks:
        if block.imports:
            found.append(block)
        elif not block.is_named:
            if block.dump not in gone:
                found.append(block)
        else:
            merged = _merged(block.key, sides, merge_text)
            if merged is not None:
                found.append(merged)
    for key in sides.base.named.keys() - sides.ours.named.keys():
        _merged(key, sides, merge_text)  # one that ours removed may not be changed by theirs
    return found


def _merged(key: str, sides: _Sides, merge_text: MergeText) -> Block | None:
    base, ours, theirs = (side.named.get(key) for side in (sides.base, sides.ours, sides.theirs))
    old, mine, new = (block.dump if block is not None else None for block in (base, ours, theirs))
    if new in (old, mine):
        return ours
    if mine == old:
        return theirs
    if key == "__doc__" and "__doc__" not in sides.ours.text + sides.theirs.text:
        return ours
    if base is None or ours is None or theirs is None:
        how = "added on both sides" if base is None else "changed on one side, removed on the other"
        raise BlockError(f"{key}: {how}")
    text = merge_text(base.text, ours.text, theirs.text)
    if text is None:
        raise BlockError(f"{key}: both sides changed the same lines")
    return _one_block(text, key)


def _one_block(text: str, key: str) -> Block:
    (block, *more) = Module.parse(text).blocks or (None,)
    if block is None or more or block.key != key:
        raise BlockError(f"{key}: its lines do not merge into one definition")
    return block


def _unnamed(module: Module) -> list[Block]:
    return [block for block in module.blocks if not block.is_named]


def _check_unnamed(sides: _Sides) -> None:
    """Statements without a name cannot be told apart: at most one side may have changed them."""
    base, ours, theirs = (
        [block.dump for block in _unnamed(side)] for side in (sides.base, sides.ours, sides.theirs)
    )
    if base != ours and base != theirs and ours != theirs:
        raise BlockError("both sides changed statements at top level that define nothing")


def _with_added(blocks: Sequence[Block], sides: _Sides) -> list[Block]:
    """The blocks with those that only `theirs` has, each after the one it stands after there."""
    known = {block.key for block in blocks}
    old = {block.key for block in sides.base.blocks}
    added = [
        block
        for block in sides.theirs.blocks
        if not block.imports and block.key not in known and block.key not in old
    ]
    return placed(blocks, added, sides.theirs)


def placed(blocks: Sequence[Block], added: Iterable[Block], source: Module) -> list[Block]:
    """Puts blocks of one module among those of another, where their neighbours stand."""
    found = list(blocks)
    order = [block.key for block in source.blocks if not block.imports]
    for block in added:
        places = {one.key: place for place, one in enumerate(found) if not one.imports}
        before = reversed(order[: order.index(block.key)])
        after = next((places[key] for key in before if key in places), None)
        at = _head(found) if after is None else after + 1
        found.insert(at, replace(block, text=_apart(block.text)))
    return found


def _head(blocks: Sequence[Block]) -> int:
    """The place after the docstring and the imports at the top."""
    at = 0
    for place, block in enumerate(blocks):
        if block.imports or block.key == "__doc__":
            at = place + 1
        else:
            break
    return at


def _apart(text: str) -> str:
    return text if text.startswith("\n") else f"\n{text}"


def _with_imports(blocks: Sequence[Block], sides: _Sides) -> list[Block]:
    old, new = set(sides.base.imported), set(sides.theirs.imported)
    found = [part for block in blocks for part in _without(block, old - new)]
    added = [name for name in sides.theirs.imported if name in new - old]
    return with_imports(found, added)


def _without(block: Block, gone: set[ImportedName]) -> list[Block]:
    """An import statement without some of its names; other blocks as they are."""
    if not gone.intersection(block.imports):
        return [block]
    return [import_block(name) for name in block.imports if name not in gone]


def with_imports(blocks: Sequence[Block], added: Iterable[ImportedName]) -> list[Block]:
    """The blocks with some more imports at the top.

    Raises:
        BlockError: a name would mean two things.
    """
    found = list(blocks)
    for name in dict.fromkeys(added):
        if any(name in block.imports for block in found):
            continue
        is_one_name = name.bound != "*" and name.name is not None
        if is_one_name and any(name.bound in block.binds for block in found):
            raise BlockError(f"{name.bound} would mean two things")
        future = name.module == "__future__"
        at = _first_import(found) if future else _head(found)
        found.insert(at, import_block(name))
    return found


def _first_import(blocks: Sequence[Block]) -> int:
    return 1 if blocks and blocks[0].key == "__doc__" else 0


def import_block(name: ImportedName) -> Block:
    """The statement that imports one name."""
    (block,) = Module.parse(f"{name.text}\n").blocks
    return block


def in_order(module: Module) -> Module:
    """The module, where each name has its meaning before it is used on loading.

    Raises:
        BlockError: one is used too early.
    """
    places: dict[str, int] = {}
    for place, block in enumerate(module.blocks):
        for name in block.binds:
            places.setdefault(name, place)
    for place, block in enumerate(module.blocks):
        early = sorted(n for n in block.needs_at_once - block.binds if places.get(n, -1) > place)
        if early:
            raise BlockError(
                f"{block.key or 'an import'} would use {early[0]} before it is defined"
            )
    return module
