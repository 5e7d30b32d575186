"""The one way to the clipboard: cleaned text, of a size that terminals accept (OSC 52)."""

from __future__ import annotations

from textual.app import App

from arcview.text import clean

LIMIT = 50_000
"""Characters; many terminals drop an OSC 52 sequence beyond 74,994 bytes of base64."""


def copyable(text: str) -> tuple[str, int]:
    """What may be copied of a text, and how many characters were left out.

    Tabs stay, since code needs them; everything else that `clean` marks is marked.
    """
    kept = text[:LIMIT]
    return "\t".join(map(clean, kept.split("\t"))), len(text) - len(kept)


def copy(app: App[object], text: str) -> str:
    """Copies the text and returns one line that says what was copied."""
    kept, left_out = copyable(text)
    if not kept:
        return "nothing to copy here"
    app.copy_to_clipboard(kept)
    lines = kept.count("\n") + 1
    what = f"{lines} lines" if lines > 1 else f"{len(kept)} characters"
    cut = f"; {left_out:,} characters beyond the clipboard's limit were left out"
    return f"copied {what}{cut if left_out else ''} (if your terminal allows it)"
