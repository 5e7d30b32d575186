"""The one way to the clipboard: cleaned text, secrets masked, of a size that terminals accept."""

from __future__ import annotations

from textual.app import App

from arcview.secrets import mask_secrets
from arcview.text import clean

LIMIT = 50_000
"""Characters; many terminals drop an OSC 52 sequence beyond 74,994 bytes of base64."""


def copyable(text: str) -> tuple[str, int]:
    """What may be copied of a text, and how many characters were left out.

    Tabs stay, since code needs them; everything else that `clean` marks is marked, and what looks
    like a secret is masked.
    """
    # Masked before it is cut: half a secret has no shape any more.
    kept = mask_secrets(text[: 2 * LIMIT])[:LIMIT]
    return "\t".join(map(clean, kept.split("\t"))), max(0, len(text) - LIMIT)


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
