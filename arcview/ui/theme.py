"""Colours: a dark and a light theme, and the names by which rows ask for a style.

Colour never carries meaning alone: glyphs, `+`, `-` and words say the same without it.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

# name: (dark, light)
_COLOURS: Mapping[str, tuple[str, str]] = {
    "muted": ("#8b949e", "#59636e"),
    "faint": ("#5a626d", "#8c959f"),
    "cursor": ("#e6edf3 19%", "#1f2328 14%"),
    "cursor-blurred": ("#e6edf3 9%", "#1f2328 7%"),
    "match": ("#6b5a12", "#fff2a8"),
    "selected": ("#264f78", "#b4d6ff"),
    "heading": ("#e6edf3", "#1f2328"),
    "heading-line": ("#1b212a", "#eceff3"),
    "info": ("#58a6ff", "#0969da"),
    # verdicts
    "pass": ("#56d364", "#1a7f37"),
    "fail": ("#ff7b72", "#cf222e"),
    "unmeasured": ("#a5a1d8", "#6e5bb8"),
    "warn": ("#e3b341", "#9a6700"),
    # diffs
    "added": ("#56d364", "#1a7f37"),
    "added-line": ("#12261e", "#e6ffec"),
    "added-word": ("#1d572d", "#abf2bc"),
    "removed": ("#ff7b72", "#cf222e"),
    "removed-line": ("#2d1a1d", "#ffebe9"),
    "removed-word": ("#74282c", "#ffc0ba"),
    "hunk": ("#79a8d8", "#3b6ea5"),
    "hunk-line": ("#161d29", "#eef4fb"),
    "missing-line": ("#171a1f", "#f3f4f6"),
    # who speaks
    "role-user": ("#d2a8ff", "#8250df"),
    "role-assistant": ("#79c0ff", "#0550ae"),
    "role-tool": ("#e3b341", "#7d4e00"),
    "thinking": ("#9aa4b0", "#656d76"),
    # syntax
    "syntax-keyword": ("#ff9e95", "#b3232f"),
    "syntax-string": ("#a5d6ff", "#0a3069"),
    "syntax-comment": ("#8b949e", "#6e7781"),
    "syntax-number": ("#79c0ff", "#0550ae"),
    "syntax-function": ("#d2a8ff", "#7a3fd0"),
    "syntax-class": ("#ffb77a", "#953800"),
    "syntax-builtin": ("#79c0ff", "#0550ae"),
    "syntax-decorator": ("#d2a8ff", "#7a3fd0"),
    "syntax-tag": ("#7ee787", "#116329"),
    "syntax-attribute": ("#79c0ff", "#0550ae"),
    "syntax-heading": ("#79c0ff", "#0550ae"),
    # the sixteen colours of a terminal, readable on the background
    "ansi-0": ("#6e7681", "#24292f"),
    "ansi-1": ("#ff7b72", "#cf222e"),
    "ansi-2": ("#56d364", "#116329"),
    "ansi-3": ("#e3b341", "#7d4e00"),
    "ansi-4": ("#79c0ff", "#0969da"),
    "ansi-5": ("#d2a8ff", "#8250df"),
    "ansi-6": ("#56d4dd", "#1b7c83"),
    "ansi-7": ("#c9d1d9", "#57606a"),
    "ansi-8": ("#8b949e", "#6e7781"),
    "ansi-9": ("#ffa198", "#a40e26"),
    "ansi-10": ("#7ee787", "#1a7f37"),
    "ansi-11": ("#f2cc60", "#633c01"),
    "ansi-12": ("#a5d6ff", "#218bff"),
    "ansi-13": ("#e2c5ff", "#a475f9"),
    "ansi-14": ("#b3f0ff", "#3192aa"),
    "ansi-15": ("#ffffff", "#8c959f"),
}

MUTED = "$muted"
FAINT = "$faint"
INFO = "$info"
HEADING = "bold $heading"
HEADING_LINE = "on $heading-line"
CURSOR = "on $cursor"
CURSOR_BLURRED = "on $cursor-blurred"
MATCH = "underline on $match"
SELECTED = "on $selected"

PASS = "$pass"
FAIL = "$fail"
UNMEASURED = "$unmeasured"
WARN = "$warn"

ADDED = "$added"
ADDED_LINE = "on $added-line"
ADDED_WORD = "on $added-word"
REMOVED = "$removed"
REMOVED_LINE = "on $removed-line"
REMOVED_WORD = "on $removed-word"
HUNK = "$hunk"
HUNK_LINE = "on $hunk-line"
MISSING_LINE = "on $missing-line"

ROLE_USER = "$role-user"
ROLE_ASSISTANT = "$role-assistant"
ROLE_TOOL = "$role-tool"
THINKING = "italic $thinking"


def _variables(*, dark: bool) -> dict[str, str]:
    return {name: pair[0 if dark else 1] for name, pair in _COLOURS.items()}


VARIABLES: Mapping[bool, Mapping[str, str]] = {
    True: _variables(dark=True),
    False: _variables(dark=False),
}
"""By darkness: what the names above stand for, also under a theme that is not ours."""

DARK = Theme(
    name="arcview-dark",
    primary="#58a6ff",
    secondary="#79c0ff",
    accent="#e3b341",
    warning="#e3b341",
    error="#ff7b72",
    success="#56d364",
    foreground="#d0d7de",
    background="#0d1117",
    surface="#0d1117",
    panel="#161b22",
    dark=True,
    variables=dict(VARIABLES[True])
    | {
        "border": "#30363d",
        "border-blurred": "#30363d",
        "scrollbar": "#30363d",
        "scrollbar-hover": "#484f58",
        "scrollbar-active": "#6e7681",
        "scrollbar-background": "#0d1117",
        "scrollbar-background-hover": "#0d1117",
        "scrollbar-background-active": "#0d1117",
        "scrollbar-corner-color": "#0d1117",
        "footer-background": "#161b22",
        "footer-key-foreground": "#58a6ff",
    },
)

LIGHT = Theme(
    name="arcview-light",
    primary="#0969da",
    secondary="#0550ae",
    accent="#9a6700",
    warning="#9a6700",
    error="#cf222e",
    success="#1a7f37",
    foreground="#1f2328",
    background="#ffffff",
    surface="#ffffff",
    panel="#f6f8fa",
    dark=False,
    variables=dict(VARIABLES[False])
    | {
        "border": "#d0d7de",
        "border-blurred": "#d0d7de",
        "scrollbar": "#d0d7de",
        "scrollbar-hover": "#afb8c1",
        "scrollbar-active": "#8c959f",
        "scrollbar-background": "#ffffff",
        "scrollbar-background-hover": "#ffffff",
        "scrollbar-background-active": "#ffffff",
        "scrollbar-corner-color": "#ffffff",
        "footer-background": "#f6f8fa",
        "footer-key-foreground": "#0969da",
    },
)

THEMES = (DARK, LIGHT)
