"""Walks the syntax tree of a command line for `shell.parse_shell`.

Private to `shell`. `tree_sitter` is imported inside a function: it costs about 15 ms, and a run
that is opened from its cache needs no parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from arcview.analysis import shell_nodes as nodes
from arcview.analysis.shell_command import ShellCommand
from arcview.analysis.shell_context import COMPARING, Context, Heredoc, judges, variables
from arcview.analysis.shell_nodes import MAX_LEVELS, MAX_NEIGHBOURS, REDIRECTS
from arcview.analysis.shell_words import unquote
from arcview.analysis.shell_wrappers import program_name, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_DEPTH = 4
"""How deep `bash -c`, functions and the like are followed."""
MAX_COMMANDS = 2000
"""Simple commands that are read of one command line; more is generated text, not typing."""

_SEQUENCES = frozenset({"program", "subshell", "compound_statement", "do_group", "case_item"})
_BRANCHES = frozenset({"if_statement", "elif_clause", "else_clause", "while_statement"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_STATUS = (("$?",), ("${PIPESTATUS[0]}",))
_HEREDOC = "__heredoc_target__"
"""Stands for the command that a heredoc feeds while the rest of its line is read."""


@cache
def bash_parser() -> Parser:
    """The one parser; importing tree_sitter and the grammar costs about 15 ms once."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Walker:
    """Collects the simple commands of one command line."""

    def __init__(self, cwd: str | None) -> None:
        self.commands: list[ShellCommand] = []
        self._cwd = cwd
        self._errexit = False
        self._pipefail = False
        self._functions: dict[str, tuple[Node, bytes]] = {}
        self._heredocs: list[Heredoc] = []
        self._source = b""
        self._depth = 0
        self._level = 0
        self._compared: set[str] = set()

    def walk(self, line: str) -> None:
        """Parses a line and keeps its commands."""
        self._nested(line, Context())
        self._mark_compared()

    def _nested(self, line: str, context: Context) -> None:
        source = line.encode("utf-8", "surrogatepass")
        self._within(bash_parser().parse(source).root_node, source, context)

    def _within(self, node: Node, source: bytes, context: Context) -> None:
        """Visits a node of another text: a script, a function's body, a heredoc's command."""
        if self._depth >= MAX_DEPTH:
            return
        saved, self._source = self._source, source
        self._depth += 1
        self._visit(node, context)
        self._depth -= 1
        self._source = saved

    def _text(self, node: Node) -> str:
        return nodes.text_of(node, self._source)

    # --- statements ------------------------------------------------------------------------------

    def _visit(self, node: Node, context: Context) -> None:
        if self._level >= MAX_LEVELS:
            return
        self._level += 1
        kind = node.type
        if kind == "command":
            self._command(node, context)
        elif kind == "pipeline":
            self._pipeline(node, context)
        elif kind == "list":
            self._list(node, context)
        elif kind == "redirected_statement":
            self._redirected(node, context)
        elif kind in _SEQUENCES:
            cwd = self._cwd
            self._statements(node.children, context.inside())
            if kind == "subshell":
                self._cwd = cwd
        elif kind in _BRANCHES:
            self._branch(node, context.inside())
        elif kind == "function_definition":
            self._define(node)
        elif kind not in ("heredoc_body", "comment") and node.child_count:
            self._other(node, kind, context.inside())
        self._level -= 1

    def _other(self, node: Node, kind: str, context: Context) -> None:
        if kind in ("for_statement", "c_style_for_statement"):
            context = context.mask("in a loop")._replace(repeated=True)
        elif kind == "negated_command":
            context = context.mask("! before it")
        elif kind == "test_command":
            self._compared.update(variables(self._text(node)))
            context = context._replace(compared=True)
        elif kind == "command_substitution":
            context = context.mask("inside $( )")._replace(pipe_to=())
            if context.captured is None:
                context = context._replace(captured="")
        elif kind == "process_substitution":
            context = context.mask("inside <( )")._replace(captured="")
        elif kind == "variable_assignment":
            context = context._replace(captured=self._text(node).partition("=")[0])
        for child in node.named_children:
            self._visit(child, context)

    def _branch(self, node: Node, context: Context) -> None:
        """`if`, `while`, `until` and their parts: conditions, then bodies that may not run."""
        body: list[Node] = []
        if node.type == "while_statement":
            context = context.mask("in a loop")._replace(repeated=True)
        else:
            context = context._replace(needs=(*context.needs, "if"))
        for index, child in enumerate(node.children):
            if node.field_name_for_child(index) == "condition":
                self._visit(child, context.mask("a condition")._replace(needs=()))
            elif child.type in _BRANCHES:
                self._statements(body, context)
                body = []
                self._visit(child, context)
            else:
                body.append(child)
        self._statements(body, context)

    def _statements(self, parts: Sequence[Node], context: Context) -> None:
        children = [child for child in parts if child.type != "comment"]
        statements = [index for index, child in enumerate(children) if child.is_named]
        before: tuple[str, ...] = ()
        for position, index in enumerate(statements):
            node = children[index]
            following = statements[position + 1 : position + 1 + MAX_NEIGHBOURS]
            later = [children[other] for other in following]
            inner = context
            if children[index + 1 : index + 2] and children[index + 1].type == "&":
                inner = context.mask("& (in the background)")
            elif later:
                printed = [nodes.printed_status(later, self._source, name) for name in _STATUS]
                inner = context.mask("; after it")._replace(
                    then=(), status_line=printed[0], pipe_status_line=printed[1]
                )
            if self._errexit:  # `set -e` makes a chain of what follows
                then = tuple(name for other in later for name in self._programs(other))
                masked = context.masked if inner.masked == "; after it" else inner.masked
                needs = (*context.needs, *before)[-MAX_NEIGHBOURS:]
                inner = inner._replace(masked=masked, then=then or context.then, needs=needs)
                before = (*before, *self._programs(node))
            self._visit(node, inner)

    def _list(self, node: Node, context: Context) -> None:
        """`a && b || c`, which the grammar nests to the left; read as a flat chain."""
        items: list[Node] = []
        operators: list[str] = []
        while node.type == "list" and node.child_count >= 3:
            items.append(node.children[-1])
            operators.append(node.children[-2].type)
            node = node.children[0]
        items = [node, *reversed(items)]
        operators.reverse()
        programs = [self._programs(item) for item in items]
        before: tuple[str, ...] = context.needs
        for index, item in enumerate(items):
            inner = context
            if index < len(items) - 1:  # a status that is printed later is that of the last one
                inner = (context.outer or context)._replace(status_line=None)
            if index and operators[index - 1] == "||":
                before = (*before, "||")
            inner = inner._replace(needs=before[-MAX_NEIGHBOURS:])
            self._visit(item, self._followed(inner, items, operators, programs, index))
            before = (*before, *programs[index])[-MAX_NEIGHBOURS:]

    def _followed(
        self,
        context: Context,
        items: Sequence[Node],
        operators: Sequence[str],
        programs: Sequence[tuple[str, ...]],
        index: int,
    ) -> Context:
        """What the rest of a chain does to the exit code of one of its parts."""
        then: tuple[str, ...] = ()
        for later in range(index + 1, len(items)):
            if len(then) > MAX_NEIGHBOURS:
                break
            if operators[later - 1] == "&&":
                then = (*then, *programs[later])
            elif programs[later][:1] not in (("exit",), ("return",)):
                words = " ".join(self._text(items[later]).split())
                context = context.mask(f"|| {words[:40]}")
                break
        return context._replace(then=(*then, *context.then)) if then else context

    def _programs(self, node: Node) -> tuple[str, ...]:
        names = nodes.programs_of(node, self._source)
        if _HEREDOC not in names or not self._heredocs:
            return names
        fed = nodes.programs_of(self._heredocs[-1].body, self._heredocs[-1].source)
        return tuple(one for name in names for one in (fed if name == _HEREDOC else (name,)))

    def _pipeline(self, node: Node, context: Context) -> None:
        stages = [child for child in node.children if child.is_named and child.type != "comment"]
        words = [nodes.pipe_words(stage, self._source) for stage in stages]
        for index, stage in enumerate(stages):
            tail = tuple(words[index + 1 : index + 1 + MAX_NEIGHBOURS])
            inner = context._replace(
                pipe_to=(*tail, *context.pipe_to),
                piped_from=context.piped_from or index > 0,
                compared=context.compared or any(judges(argv) for argv in tail),
                stdin_text=context.stdin_text if index == 0 else None,
                outer=(context.outer or context) if index == 0 else None,
                pipe_status_line=None,
            )
            if tail and not self._pipefail:
                inner = inner.mask(f"pipe into {program_name(tail[0][0])}")
                if index == 0:
                    inner = inner._replace(status_line=context.pipe_status_line)
            self._visit(stage, inner)

    # --- redirects and heredocs ------------------------------------------------------------------

    def _redirected(self, node: Node, context: Context) -> None:
        body = node.child_by_field_name("body")
        inner = context
        heredoc: Node | None = None
        for child in node.children:
            if child.type == "heredoc_redirect":
                heredoc = heredoc or child
            elif child.type in REDIRECTS:
                inner = self._redirect(child, inner)
        if body is None:
            return
        if heredoc is not None:
            self._heredoc(body, heredoc, context, inner)
        else:
            self._visit(body, inner._replace(outer=context.outer or context))

    def _redirect(self, node: Node, context: Context) -> Context:
        if node.type == "herestring_redirect":
            words = [unquote(child.type, self._text(child)) for child in node.named_children]
            return context._replace(stdin_text=" ".join(words))
        target = node.child_by_field_name("destination")
        found = re.match(r"(\d*)(&>>?|>>?\|?)(?!&|\()", self._text(node))
        self._inside(node, context)
        if target is None or found is None or found[1] not in ("", "1"):
            return context
        path = unquote(target.type, self._text(target))
        return context._replace(output=path, appends=found[2].endswith(">>"))

    def _heredoc(self, body: Node, node: Node, context: Context, inner: Context) -> None:
        """Reads the rest of the line behind `<<E` as if the heredoc were not there.

        The grammar loses what stands there (`; cmd`, `2>&1 | head`), so it is parsed once more with
        a stand-in for the command that the heredoc feeds.
        """
        text, rest = nodes.heredoc_parts(node, self._source)
        if not rest.strip() or "<<" in rest:
            outer = context.outer or context
            self._visit(body, inner._replace(stdin_text=text, outer=outer))
            return
        self._heredocs.append(Heredoc(body, self._source, text, inner.output, inner.appends))
        self._nested(f"{_HEREDOC} {rest}", context.inside())
        self._heredocs.pop()

    def _fed(self, context: Context) -> None:
        """Visits the command that a heredoc feeds, with what the rest of its line has set."""
        target = self._heredocs[-1]
        inner = context._replace(
            stdin_text=target.text,
            output=context.output or target.output,
            appends=context.appends or target.appends,
            outer=context.outer or context,
        )
        self._within(target.body, target.source, inner)

    def _define(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None:
            self._functions[self._text(name)] = (body, self._source)

    # --- one command -----------------------------------------------------------------------------

    def _inside(self, node: Node, context: Context, level: int = 0) -> None:
        """Visits what is substituted within words and redirects."""
        if level >= MAX_LEVELS:
            return
        for child in node.children:
            if child.type in _SUBSTITUTIONS:
                self._visit(child, context._replace(needs=(), then=(), outer=None))
            elif child.child_count and child.type != "heredoc_body":
                self._inside(child, context, level + 1)

    def _command(self, node: Node, context: Context) -> None:
        if len(self.commands) >= MAX_COMMANDS:
            return
        env: list[tuple[str, str]] = []
        group: Node | None = None
        nested = False
        for child in node.children:
            nested = nested or child.child_count > 1 or nodes.has_parts(child)
            if child.type == "variable_assignment":
                key, _, value = self._text(child).partition("=")
                env.append((key, value))
            elif child.type in ("herestring_redirect", "file_redirect"):
                context = self._redirect(child, context)
            elif child.type in ("subshell", "compound_statement"):
                group = child
        words = nodes.words_of(node, self._source)
        if group is not None:  # `time ( pytest )`
            self._visit(group, context._replace(wrappers=(*context.wrappers, *words[:1])))
            return
        if nested or not words:
            compared = context.compared or bool(words and self._compares(words, node))
            self._inside(node, context._replace(compared=compared))
        if env:
            context = context._replace(env=(*context.env, *env))
        if words:
            self._run(node, tuple(words), context)

    def _compares(self, words: Sequence[str], node: Node) -> bool:
        if program_name(words[0]) not in COMPARING:
            return False
        self._compared.update(variables(self._text(node)))
        return True

    def _run(self, node: Node, words: tuple[str, ...], context: Context) -> None:
        if words[0] == _HEREDOC and self._heredocs:
            self._fed(context)
            return
        if words[0] in self._functions:
            body, source = self._functions[words[0]]
            self._within(body, source, context.inside())
            return
        self._builtin(words)
        bare = unwrap(words)
        if bare.names:
            context = context._replace(
                wrappers=(*context.wrappers, *bare.names),
                timeout=context.timeout or bare.timeout,
                env=(*context.env, *bare.env),
                repeated=context.repeated or bare.repeated,
            )
        script = bare.script
        if script is None and context.feeds_shell(bare.argv):
            script = context.stdin_text
        if script is not None:
            cwd = self._cwd
            self._nested(script, context._replace(stdin_text=None, outer=None))
            self._cwd = cwd
        elif bare.argv and bare.argv[0] not in ("{", "}", ""):
            self.commands.append(context.command(bare.argv, self._text(node), self._cwd))

    def _builtin(self, words: tuple[str, ...]) -> None:
        if words[0] in ("cd", "pushd"):
            target = next((word for word in words[1:] if not word.startswith("-")), None)
            if target is None:
                self._cwd = None
            elif target.startswith(("/", "~", "$")) or self._cwd is None:
                self._cwd = target
            else:
                self._cwd = f"{self._cwd.rstrip('/')}/{target}"
        elif words[0] == "set":
            flags = "".join(word for word in words[1:] if re.fullmatch(r"-[a-z]+", word))
            self._errexit = self._errexit or "e" in flags
            self._pipefail = self._pipefail or "pipefail" in words

    def _mark_compared(self) -> None:
        """Output kept in a variable or a file that the line compares later counts as compared."""
        files = {
            word
            for command in self.commands
            if program_name(command.argv[0]) in COMPARING
            for word in command.argv[1:]
        }
        for index, command in enumerate(self.commands):
            if command.captured in self._compared or command.output in files:
                self.commands[index] = replace(command, compared=True)
