"""The one door through which text from a run reaches a widget: cleaned, clipped and never markup.

Everything else in `ui` gets `Content` from here; ruff bans the stock doors that parse markup. What
looks like a secret is masked on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.content import Content
from textual.widgets import Static

from arcview.secrets import mask_secrets
from arcview.text import CLIP_LIMIT, clean, clip

if TYPE_CHECKING:
    from textual.app import App
    from textual.notifications import SeverityLevel

Piece = str | tuple[str, str]
"""Outside text, or outside text with the style it is drawn in."""


def visible(text: str, limit: int = CLIP_LIMIT) -> str:
    """What may be shown of a line of outside text, not cleaned yet: clipped, secrets masked."""
    return mask_secrets(clip(text, limit))


def plain(text: str, style: str = "", *, limit: int = CLIP_LIMIT) -> Content:
    """Outside text as content: cleaned, clipped to `limit` characters, literal."""
    cleaned = clean(visible(text, limit))
    return Content.styled(cleaned, style) if style else Content(cleaned)


def pieces(*parts: Piece | Content) -> Content:
    """Joins outside texts, each plain or with its style, and contents that came from here."""
    return Content.assemble(
        *(
            part
            if isinstance(part, Content)
            else plain(part)
            if isinstance(part, str)
            else plain(part[0], part[1])
            for part in parts
        )
    )


def plain_text(text: str, style: str = "") -> Text:
    """Outside text for the stock widgets that need rich's `Text`: table cells and tree labels."""
    return Text(clean(visible(text)), style=style, end="")


def one_line(text: str) -> str:
    """Outside text that must not break its row: newlines become `␊`."""
    return clean(mask_secrets(text).replace("\n", "\N{SYMBOL FOR LINE FEED}"))


def notify_plain(
    app: App[Any],
    message: str,
    *,
    title: str = "",
    severity: SeverityLevel = "information",
    timeout_s: float | None = None,
) -> None:
    """Shows a toast whose text is literal and clean."""
    app.notify(
        clean(visible(message)),
        title=clean(visible(title)),
        severity=severity,
        timeout=timeout_s,
        markup=False,
    )


class PlainStatic(Static):
    """A `Static` that takes outside text: strings are cleaned and never parsed as markup."""

    def __init__(
        self,
        text: str | Content = "",
        *,
        id: str | None = None,  # noqa: A002 -- Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(_safe(text), markup=False, id=id, classes=classes)

    def show(self, text: str | Content) -> None:
        """Replaces what is shown."""
        self.update(_safe(text))

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return str(self.content)


def _safe(text: str | Content) -> Content:
    return text if isinstance(text, Content) else plain(text)
