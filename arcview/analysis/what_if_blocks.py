"""Python files as top-level blocks, and what a block needs from elsewhere. Pure; runs nothing.

A block is one definition, assignment or other statement of a module with the comments before it.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

MAIN = "if __name__ == '__main__'"

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__all__"}

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class BlockError(Exception):
    """A file cannot be taken apart, or put together; the text says why."""


@dataclass(frozen=True, slots=True)
class ImportedName:
    """One name that a module imports."""

    module: str
    """With its leading dots."""
    name: str | None
    """Null for `import module`."""
    bound: str
    """What it is called here; `*` for all names."""

    @property
    def text(self) -> str:
        """The statement that imports it alone."""
        if self.name is None:
            # `import a.b` binds `a`; `import a.b as c` binds `c`.
            is_plain = self.bound == self.module.partition(".")[0]
            return f"import {self.module}" + ("" if is_plain else f" as {self.bound}")
        renamed = "" if self.bound == self.name else f" as {self.bound}"
        return f"from {self.module} import {self.name}{renamed}"


@dataclass(frozen=True)
class Block:
    """One top-level statement."""

    key: str
    """The name it defines; for a statement without one, what it says."""
    text: str
    """Whole lines, with the comments and blank lines before."""
    node: ast.stmt
    imports: tuple[ImportedName, ...] = ()
    """For an import at top level."""
    is_named: bool = True

    @cached_property
    def dump(self) -> str:
        """What it says, whatever its layout."""
        return ast.dump(self.node)

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that it gives a meaning to in its module."""
        return frozenset(_bound(self.node))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The names of its module that it uses at any time; builtins are not among them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(self.text.lstrip(), "block", "exec")
        return frozenset(_free(table)) - _BUILTINS

    @cached_property
    def needs_at_once(self) -> frozenset[str]:
        """The names that it uses while its module is being loaded."""
        return frozenset(_eager(self.node)) - _BUILTINS


@dataclass(frozen=True)
class Module:
    """A Python file as blocks, in order."""

    blocks: tuple[Block, ...]
    tail: str = ""
    """Comments after the last one."""

    @classmethod
    def parse(cls, text: str) -> Module:
        """Takes a file apart.

        Raises:
            BlockError: it is not Python of this version, or its statements share lines.
        """
        if "\r" in text.replace("\r\n", ""):
            raise BlockError("it has line ends of several kinds")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise BlockError(f"it does not parse as Python: {_first_line(error)}") from error
        lines = text.split("\n")
        blocks: list[Block] = []
        at = 0
        for node in tree.body:
            start = min([node.lineno, *(d.lineno for d in _decorators(node))]) - 1
            end = node.end_lineno or node.lineno
            if start < at:
                raise BlockError(f"line {start + 1} holds several statements")
            blocks.append(_block(node, "\n".join(lines[at:end]) + "\n", is_first=not blocks))
            at = end
        return cls(tuple(blocks), "\n".join(lines[at:]))

    @property
    def text(self) -> str:
        """The file."""
        return "".join(block.text for block in self.blocks) + self.tail

    @cached_property
    def named(self) -> dict[str, Block]:
        """Blocks by the name they define.

        Raises:
            BlockError: two of them define one name.
        """
        found: dict[str, Block] = {}
        for block in self.blocks:
            if block.imports or not block.is_named:
                continue
            if block.key in found:
                raise BlockError(f"{block.key} is defined twice")
            found[block.key] = block
        return found

    @cached_property
    def imported(self) -> tuple[ImportedName, ...]:
        """What it imports at top level."""
        return tuple(name for block in self.blocks for name in block.imports)

    @cached_property
    def binds(self) -> frozenset[str]:
        """All names that have a meaning in it."""
        return frozenset(name for block in self.blocks for name in block.binds)

    def block_of(self, name: str) -> Block | None:
        """The block that gives a name its meaning."""
        return next((block for block in self.blocks if name in block.binds), None)


def _block(node: ast.stmt, text: str, *, is_first: bool) -> Block:
    if isinstance(node, (*_Function, ast.ClassDef)):
        return Block(node.name, text, node)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Block("", text, node, tuple(_imported(node)))
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return Block(target.id, text, node)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return Block(node.target.id, text, node)
    if is_first and ast.get_docstring(ast.Module([node], [])) is not None:
        return Block("__doc__", text, node)
    if isinstance(node, ast.If) and "'__main__'" in ast.dump(node.test):
        return Block(MAIN, text, node)
    return Block(ast.dump(node), text, node, is_named=False)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[ImportedName]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield ImportedName(module, alias.name, alias.asname or alias.name)
        else:
            bound = alias.asname or alias.name.partition(".")[0]
            yield ImportedName(alias.name, None, bound)


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, (*_Function, ast.ClassDef)) else []


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds in its own scope."""
    if isinstance(node, (*_Function, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (name.bound for name in _imported(node))
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _free(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that a piece of code looks up in its module."""
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if not symbol.is_referenced():
            continue
        if is_top:
            if not symbol.is_assigned() and not symbol.is_imported():
                yield symbol.get_name()
        elif symbol.is_global():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _free(child)


def _eager(node: ast.AST) -> Iterator[str]:
    """Names that are looked up as soon as a statement runs: not those in bodies of functions.

    Annotations count as looked up later, as they are where they are postponed.
    """
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.Lambda):
        parts = _defaults(node.args)
    elif isinstance(node, _Function):
        parts = [*node.decorator_list, *_defaults(node.args)]
    elif isinstance(node, ast.AnnAssign):
        parts = [node.value] if node.value is not None else []
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *node.keywords]
        own = {name for statement in node.body for name in _bound(statement)}
        inside = (name for statement in node.body for name in _eager(statement))
        yield from (name for name in inside if name not in own)
    for part in parts:
        yield from _eager(part)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *filter(None, arguments.kw_defaults)]


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
