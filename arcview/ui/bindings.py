"""Turns the command registry into Textual bindings and palette entries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from arcview.session.commands import Command, Context, Group, commands_in
from arcview.session.commands_help import keys_label
from arcview.ui import theme


def bindings(*contexts: Context) -> list[BindingType]:
    """The bindings of a screen: those contexts' own, without what list widgets act on."""
    return [
        _binding(command, key)
        for context in contexts
        for command in commands_in(context)
        if command.context is context and not command.by_widget
        for key in command.keys
    ]


def widget_bindings(context: Context) -> list[BindingType]:
    """The bindings of a list widget: what it acts on itself, and what only its pane has."""
    return [
        _binding(command, key)
        for command in commands_in(context)
        if command.by_widget or command.context is context
        for key in command.keys
    ]


def _binding(command: Command, key: str) -> Binding:
    argument = f"({key})" if command.takes_key else ""
    action = f"{_namespace(command)}{command.action}{argument}"
    return Binding(_bindable(key), action, command.title, show=False)


def _bindable(key: str) -> str:
    """Textual reads a comma as the border between two keys."""
    return "comma" if key == "," else key


class Commands(Provider):
    """Every command that applies on the screen below, found by title and by what it does."""

    def _commands(self) -> list[Command]:
        context = getattr(self.screen, "context", Context.APP)
        return [c for c in commands_in(context) if not c.takes_key and c.id != "palette"]

    async def discover(self) -> Hits:
        """Everything, before anything is typed; how one moves comes last, since one knows that."""
        for command in sorted(self._commands(), key=lambda found: found.group is Group.MOVE):
            yield DiscoveryHit(_entry(command), self._run(command), command.title, command.help)

    async def search(self, query: str) -> Hits:
        """What matches the typed text."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = max(matcher.match(command.title), matcher.match(command.help) / 2)
            if score > 0:
                entry = _entry(command)
                yield Hit(score, entry, self._run(command), command.title, command.help)

    def _run(self, command: Command) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            # The list widget in focus knows its own actions, the screen and the app the others.
            node = self.focused if command.by_widget and self.focused else self.screen
            await node.run_action(_namespace(command) + command.action)

        return run


def _namespace(command: Command) -> str:
    if command.context is Context.APP:
        return "screen." if command.id == "help" else "app."
    return "" if command.by_widget else "screen."


def _entry(command: Command) -> Content:
    keys = keys_label(command)
    return Content.assemble(command.title, (f"  {keys}" if keys else "", theme.MUTED))
