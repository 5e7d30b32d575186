"""Reads single nodes of a shell's syntax tree: their text, words and programs.

Private to `shell`; keeps no state and follows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arcview.analysis.shell_words import dedented, status_pattern, unquote
from arcview.analysis.shell_wrappers import program_name

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LEVELS = 60
"""How deep a syntax tree is followed; people nest three or four levels."""
MAX_NEIGHBOURS = 20
"""Programs that are kept of a long chain of `&&`."""
REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


def text_of(node: Node, source: bytes) -> str:
    """The text of a node, undecodable bytes replaced."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def has_parts(node: Node) -> bool:
    """Whether the one child of a node has children of its own: a substitution as a word."""
    return node.child_count == 1 and node.children[0].child_count > 0


def words_of(command: Node, source: bytes) -> list[str]:
    """The unquoted words of a `command` node, without assignments and redirects."""
    words = []
    for child in command.children:
        kind = child.type
        if kind == "command_name":
            inner = child.children[0] if child.child_count else child
            words.append(unquote(inner.type, text_of(inner, source)))
        elif child.is_named and kind not in REDIRECTS and kind != "variable_assignment":
            words.append(unquote(kind, text_of(child, source)))
    return words


def pipe_words(stage: Node, source: bytes) -> tuple[str, ...]:
    """The words of a command in a pipe, without its redirects; never empty."""
    while stage.type not in ("command", "test_command") and stage.named_children:
        stage = stage.named_children[-1 if stage.type == "list" else 0]
    words = words_of(stage, source) if stage.type == "command" else []
    return tuple(words) or (text_of(stage, source) or "…",)


def programs_of(node: Node, source: bytes, level: int = 0) -> tuple[str, ...]:
    """The first words of the commands in a part of a line, a few of them."""
    if node.type == "command":
        for child in node.children:
            if child.type == "command_name":
                return (program_name(text_of(child, source)),)
        return ()
    if node.type == "test_command":
        return ("[",)
    if node.type in ("heredoc_body", "command_substitution") or level >= MAX_LEVELS:
        return ()
    names: list[str] = []
    for child in node.named_children:
        names += programs_of(child, source, level + 1)
        if len(names) > MAX_NEIGHBOURS:
            break
    return tuple(names)


def printed_status(later: Sequence[Node], source: bytes, names: tuple[str, ...]) -> str | None:
    """A pattern for the line in which the following statements print an exit code, if they do.

    Args:
        later: The statements after the command.
        source: The text that they are nodes of.
        names: How the exit code is written: `$?` or `${PIPESTATUS[0]}`.
    """
    first = later[0]
    if first.type not in ("command", "variable_assignment"):
        return None
    text = text_of(first, source)
    kept = re.fullmatch(r"(\w+)=\"?(\$\?|\$\{PIPESTATUS\[0\]\})\"?", text)
    if kept and kept[2] in names:
        names = (f"${kept[1]}", f"${{{kept[1]}}}")
        prints = (text_of(node, source) for node in later[1:] if node.type == "command")
        text = next((line for line in prints if names[0] in line or names[1] in line), "")
    return status_pattern(text, names)


def heredoc_parts(redirect: Node, source: bytes) -> tuple[str, str]:
    """The body of a heredoc, and what stands behind its `<<E` on the same line."""
    text, rest = "", ""
    for child in redirect.children:
        if child.type == "heredoc_start":
            line, _, _ = source[child.end_byte :].partition(b"\n")
            rest = line.decode("utf-8", "replace")
        elif child.type == "heredoc_body":
            text = text_of(child, source)
    indented = redirect.child_count > 0 and redirect.children[0].type == "<<-"
    return dedented(text) if indented else text, rest
