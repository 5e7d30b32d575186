"""What a change to Python code needs that the tree it is put on lacks, copied along or named. Pure.

A change that calls a helper of its own old tree fails elsewhere for no fault of its own: such a
helper is copied, and what cannot be copied is a doubt about any failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from arcview.analysis.what_if_blocks import Block, BlockError, ImportedName, Module
from arcview.analysis.what_if_merge import in_order, placed, with_imports
from arcview.analysis.what_if_words import defined_words, signature, used_words


class Sources:
    """The Python files of one tree, parsed when they are asked for.

    Args:
        paths: Every file of the tree.
        read: Gives the text of one.
    """

    def __init__(self, paths: Iterable[str], read: Callable[[str], str]) -> None:
        self.paths = frozenset(path for path in paths if path.endswith(".py"))
        self._read = read
        self._modules: dict[str, Module | None] = {}

    def module(self, path: str) -> Module | None:
        """A file as blocks; null where the tree has none such, or it does not parse."""
        if path not in self._modules:
            try:
                known = path in self.paths
                self._modules[path] = Module.parse(self._read(path)) if known else None
            except BlockError:
                self._modules[path] = None
        return self._modules[path]

    def text(self, path: str) -> str:
        """A file of the tree."""
        return self._read(path)

    def find(self, importer: str, module: str) -> str | None:
        """The file of a module as another file names it; null where the tree does not have it."""
        name = module.lstrip(".")
        level = len(module) - len(name)
        tail = name.replace(".", "/")
        if level:
            folder = PurePosixPath(importer).parents[0]
            for _ in range(level - 1):
                folder = folder.parent
            places = [str(folder / tail)] if tail else [str(folder)]
        else:
            places = [tail, *self._below_roots(tail)]
        files = (file for place in places for file in (f"{place}.py", f"{place}/__init__.py"))
        return next((file for file in files if file in self.paths), None)

    def _below_roots(self, tail: str) -> Iterator[str]:
        """Where a module lies if its top package is not at the root: `src/…`."""
        ends = (f"/{tail}.py", f"/{tail}/__init__.py")
        found = sorted(p for p in self.paths if p.endswith(ends))
        yield from (path.removesuffix(".py").removesuffix("/__init__") for path in found[:1])


@dataclass(slots=True)
class Closure:
    """What was done so that a change finds what it needs."""

    files: dict[str, str] = field(default_factory=dict)
    """Files of the target that are new or have more in them."""
    copied: list[str] = field(default_factory=list)
    """What was copied along: `app/text.py: shorten`."""
    doubts: list[str] = field(default_factory=list)
    """What the change needs that is missing or another, and cannot be copied."""


def close_over(base: Sources, changed: Sources, target: Sources, paths: Iterable[str]) -> Closure:
    """Copies what the blocks of a change need into the tree that it was put on.

    Args:
        base: The tree that the change was made on.
        changed: The tree with the change.
        target: The tree that the change was put on.
        paths: The files that the change touches.

    Raises:
        BlockError: what is needed cannot be copied.
    """
    return _Closing(base, changed, target).close(paths)


class _Closing:
    def __init__(self, base: Sources, changed: Sources, target: Sources) -> None:
        self._base, self._changed, self._target = base, changed, target
        self._now: dict[str, Module] = {}
        self._taken: dict[tuple[str, str], Block] = {}
        self._seen: set[tuple[str, str]] = set()
        self._found = Closure()

    def close(self, paths: Iterable[str]) -> Closure:
        for path in sorted(paths):
            new, here = self._changed.module(path), self._module(path)
            if new is None or here is None:
                continue
            old = self._base.module(path) or Module(())
            known = {block.key: block.dump for block in old.blocks if not block.imports}
            for block in new.blocks:
                if not block.imports and known.get(block.key) != block.dump:
                    self._taken[path, block.key] = block
            for name in set(new.imported) - set(old.imported):
                self._need_import(path, name)
        for (path, _), block in tuple(self._taken.items()):
            self._need_all(path, block)
        self._found.files = {path: module.text for path, module in self._now.items()}
        self._found.doubts += self._missing_words()
        return self._found

    def _module(self, path: str) -> Module | None:
        return self._now.get(path) or self._target.module(path)

    def _need_all(self, path: str, block: Block) -> None:
        """Whatever one block of a file uses."""
        for name in sorted(block.needs):
            self._need(path, name)
        source = self._changed.module(path)
        bound = {name.bound: name for name in source.imported} if source is not None else {}
        for node in ast.walk(block.node):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                imported = bound.get(node.value.id)
                where = self._module_of(path, imported) if imported is not None else None
                if where is not None:
                    self._need(where, node.attr)

    def _module_of(self, path: str, name: ImportedName) -> str | None:
        """The file that an imported name stands for, where it is a module of the project."""
        dots = name.module if name.module.endswith(".") else f"{name.module}."
        full = name.module if name.name is None else f"{dots}{name.name}"
        return self._changed.find(path, full)

    def _need_import(self, path: str, name: ImportedName) -> None:
        where = self._changed.find(path, name.module)
        if name.name is None or name.name == "*" or where is None:
            self._need_file(where)
        elif (part := self._module_of(path, name)) is not None:
            self._need_file(part)
        else:
            self._need(where, name.name)

    def _need_file(self, path: str | None) -> bool:
        """Copies a file that the target does not have at all; says whether it did."""
        source = self._changed.module(path) if path is not None else None
        if path is None or source is None or self._module(path) is not None:
            return False
        if path in self._target.paths:
            raise BlockError(f"{path} does not parse as Python")
        self._now[path] = source
        self._found.copied.append(path)
        for name in source.imported:
            self._need_import(path, name)
        return True

    def _need(self, path: str, name: str) -> None:
        if (path, name) in self._seen:
            return
        self._seen.add((path, name))
        source = self._changed.module(path)
        block = source.block_of(name) if source is not None else None
        if source is None or block is None or self._need_file(path):
            return
        here = self._module(path)
        if here is None:
            return
        mine = here.block_of(name)
        if mine is not None:
            self._compare(path, name, mine, block)
        elif block.imports:
            wanted = [one for one in block.imports if one.bound == name]
            self._now[path] = Module(tuple(with_imports(here.blocks, wanted)), here.tail)
            for one in wanted:
                self._need_import(path, one)
        else:
            blocks = placed(here.blocks, [block], source)
            self._now[path] = Module(tuple(blocks), here.tail)
            self._found.copied.append(f"{path}: {name}")
            self._need_all(path, block)
            self._now[path] = in_order(self._now[path])

    def _compare(self, path: str, name: str, mine: Block, theirs: Block) -> None:
        if (path, theirs.key) not in self._taken and signature(mine.node) != signature(theirs.node):
            self._found.doubts.append(f"{path}: {name} is called otherwise there")

    def _missing_words(self) -> list[str]:
        """Attributes, parameters and keys that the change uses, its old tree has and this lacks."""
        used: dict[str, str] = {}
        for (path, _), block in self._taken.items():
            used.update((word, path) for word in used_words(block.node))
        missing = used.keys() & self._words(self._base, {}, used)
        missing -= self._words(self._target, self._now, missing)
        return [f"{used[word]}: uses {word}, which is not there" for word in sorted(missing)]

    def _words(
        self, sources: Sources, now: Mapping[str, Module], wanted: Iterable[str]
    ) -> set[str]:
        """Those of some words that a tree gives a meaning to."""
        names = {word.strip(".=[]'\"") for word in wanted} - {""}
        if not names:
            return set()
        near = re.compile("|".join(map(re.escape, sorted(names))))
        modules = [
            now.get(path) or sources.module(path)
            for path in sources.paths | now.keys()
            if path in now or near.search(sources.text(path))
        ]
        nodes = (block.node for module in modules if module is not None for block in module.blocks)
        return {word for node in nodes for word in defined_words(node)}
