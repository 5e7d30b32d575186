"""What is made from the command registry for people: hints, help, the README's key table."""

from __future__ import annotations

from collections.abc import Mapping

from arcview.session.commands import COMMANDS, Command, Context, Group, commands_in

_KEY_LABELS = {
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "space": "Space",
    "minus": "-",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "plus": "+",
    "percent_sign": "%",
    "number_sign": "#",
}


_ALWAYS = frozenset({"pick", "previous_stage", "next_pane"})
"""What every pane of the run screen should name even in a narrow terminal."""
_REVERSES = (("previous_", "next_"), ("next_", "previous_"), ("more_", "fewer_"))
_LISTS = frozenset({Context.LIBRARY, Context.CASES, Context.WORK, Context.CHOICE})
"""Where enter is what one comes for."""
_ABOUT = {
    Context.GATE: (Group.GATE, Group.RERUN, Group.LABELS),
    Context.DIFF: (Group.DIFF, Group.LABELS),
    Context.TREE: (Group.DIFF,),
    Context.SELF_TESTS: (Group.LABELS, Group.STEPS),
    Context.TRAJECTORY: (Group.STEPS, Group.LABELS, Group.SEARCH),
}
"""Which groups of keys of the run screen are about what a pane shows, the most telling first."""


def key_label(key: str) -> str:
    """A key as people write it: `ctrl+r`, `↓`, `]`."""
    return _KEY_LABELS.get(key, key)


def keys_label(command: Command) -> str:
    """All keys of a command: `1–9`, `j ↓`."""
    if command.takes_key:
        return f"{command.keys[0]}–{command.keys[-1]}"
    return " ".join(map(key_label, command.keys))


def hints(context: Context) -> tuple[tuple[str, str], ...]:
    """Key and short name of what is worth showing in one line there, most telling first.

    First what the pane has of its own, then how one gets on, then what of its screen is about what
    the pane shows, then the rest of the screen, last what every list has.
    """
    commands = [command for command in commands_in(context) if command.hint and command.keys]
    order = (context, Context.RUN, Context.TEXT, Context.ROWS)
    about = _ABOUT.get(context, ())

    def rank(command: Command) -> int:
        if command.id == "pick" and context in _LISTS:
            return -1
        if about and command.id in _ALWAYS and command.context is not context:
            return 1
        if command.group in about and command.context is Context.RUN:
            return 2 + about.index(command.group)
        return (0, 7, 8, 9)[order.index(command.context)]

    ranked = sorted((command for command in commands if command.context in order), key=rank)
    firsts = {
        (command.context, command.id): command.keys[0]
        for command in commands_in(context)
        if command.keys
    }
    return tuple((_hint_keys(command, firsts), command.hint) for command in ranked)


def _hint_keys(command: Command, firsts: Mapping[tuple[Context, str], str]) -> str:
    """The first key, and that of the command which does the reverse: `[ ]`, `+ -`."""
    keys = [command.keys[0]]
    for name, reverse in _REVERSES:
        if command.id.startswith(name):
            other = firsts.get((command.context, reverse + command.id.removeprefix(name)))
            keys += [other] if other is not None and len(key_label(other)) == 1 else []
    return " ".join(map(key_label, keys))


def standing_hints() -> tuple[tuple[str, str], ...]:
    """What is worth showing on every screen, in the same place."""
    return tuple(
        (key_label(command.keys[0]), command.hint)
        for command in commands_in(Context.APP)
        if command.hint
    )


def help_rows(context: Context) -> tuple[tuple[Group, tuple[Command, ...]], ...]:
    """Everything that applies in a context, under its headings, in the order of the registry."""
    active = set(commands_in(context))
    found = (
        (group, tuple(c for c in COMMANDS if c in active and c.group is group)) for group in Group
    )
    return tuple((group, commands) for group, commands in found if commands)


def key_table_markdown() -> str:
    """The key table of the README: every command that has a key, by heading."""
    lines = ["| Keys | What they do | Where |", "|---|---|---|"]
    for group in Group:
        seen: set[tuple[str, str]] = set()
        for command in COMMANDS:
            entry = (keys_label(command), command.title)
            if command.group is not group or not command.keys or entry in seen:
                continue
            seen.add(entry)
            keys = " ".join(f"`{key.replace('|', chr(92) + '|')}`" for key in entry[0].split())
            lines.append(f"| {keys} | {command.title}: {_uncapitalise(command.help)} "
                         f"| {command.context.value} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def _uncapitalise(text: str) -> str:
    return text[:1].lower() + text[1:]
