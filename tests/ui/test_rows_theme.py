"""Every style that rows ask for exists in both themes and can be read there."""

from __future__ import annotations

import re

import pytest
from textual.color import Color
from textual.theme import Theme

from arcview.analysis import syntax
from arcview.ui import theme
from arcview.ui.theme import DARK, LIGHT, VARIABLES

STYLES = [value for name, value in vars(theme).items() if name.isupper() and isinstance(value, str)]
TEXT = sorted({
    "heading", "info", "pass", "fail", "unmeasured", "warn", "added", "removed", "hunk",
    "role-user", "role-assistant", "role-tool", "thinking", "muted",
    *(f"syntax-{kind}" for _, kind in syntax._KINDS),
})  # fmt: skip


def contrast(one: Color, other: Color) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""

    def luminance(color: Color) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in color.normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_both_themes_know_the_same_names() -> None:
    assert VARIABLES[True].keys() == VARIABLES[False].keys()


def test_every_style_name_is_a_colour_of_the_theme() -> None:
    asked = {name for style in STYLES for name in re.findall(r"\$([a-z0-9-]+)", style)}
    asked |= {f"syntax-{kind}" for _, kind in syntax._KINDS}
    asked |= {f"ansi-{index}" for index in range(16)}
    assert asked - VARIABLES[True].keys() == set()


@pytest.mark.parametrize("own", [DARK, LIGHT], ids=lambda own: own.name)
@pytest.mark.parametrize("name", TEXT)
def test_text_can_be_read_on_the_background(own: Theme, name: str) -> None:
    background = Color.parse(own.background or "")
    assert contrast(Color.parse(own.variables[name]), background) >= 4.5


@pytest.mark.parametrize("own", [DARK, LIGHT], ids=lambda own: own.name)
@pytest.mark.parametrize(
    ("name", "line"),
    [("added", "added-line"), ("removed", "removed-line"), ("heading", "heading-line")],
)
def test_text_can_be_read_on_coloured_lines(own: Theme, name: str, line: str) -> None:
    background = Color.parse(own.variables[line])
    assert contrast(Color.parse(own.variables[name]), background) >= 4.5


@pytest.mark.parametrize("own", [DARK, LIGHT], ids=lambda own: own.name)
def test_changed_words_stand_out_of_their_line(own: Theme) -> None:
    for side in ("added", "removed"):
        line, word = (Color.parse(own.variables[f"{side}-{part}"]) for part in ("line", "word"))
        assert contrast(line, word) >= 1.15
