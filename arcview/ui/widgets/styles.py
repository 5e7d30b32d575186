"""Turns the style names of rows into Textual styles, whatever theme the app uses."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.markup import parse_style
from textual.style import Style

from arcview.ui.theme import VARIABLES

_VARIABLE = re.compile(r"\$([a-z0-9-]+)")


class StyleResolver:
    """Parses style texts once. Names that a foreign theme lacks have the values of our own."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {"": Style()}
        self._variables: Mapping[str, str] | None = None

    def __call__(self, app: App[Any], text: str) -> Style:
        """The style that a text such as `bold $added` stands for."""
        style = self._styles.get(text)
        if style is None:
            if self._variables is None:
                self._variables = ChainMap(
                    app.theme_variables, dict(VARIABLES[app.current_theme.dark])
                )
            variables = self._variables
            # Put in by hand: Textual tokenizes all 200 variables again for each style.
            filled = _VARIABLE.sub(lambda match: variables[match[1]], text)
            style = self._styles[text] = parse_style(filled, {})
        return style

    def clear(self) -> None:
        """Forgets everything; for a change of the theme."""
        self._styles = {"": Style()}
        self._variables = None
