"""What events of Codex repeat of the response items: shown once, whichever comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from arcview.model.trajectory import Role, StepKind
from arcview.readers.trajectories.cuts import mark_of
from arcview.readers.trajectories.drafts import Draft

Saying = tuple[str, Hashable]
"""Who says it (`user`, `agent`, `thought`) and what, as `mark_of` has it."""


@dataclass(slots=True)
class Mirrors:
    """Pairs sayings of events with those of response items, one to one."""

    _said: Counter[Saying] = field(default_factory=Counter)
    _waiting: dict[Saying, list[Draft]] = field(default_factory=dict)

    def said(self, who: str, text: str) -> None:
        """Tells of a response item; the step of an event that said it before is dropped."""
        saying = (who, mark_of(text.strip()))
        if self._waiting.get(saying):
            self._waiting[saying].pop(0).is_dropped = True
        else:
            self._said[saying] += 1

    def is_news(self, who: str, text: str) -> bool:
        """Tells of an event: whether no response item has said it so far."""
        saying = (who, mark_of(text.strip()))
        if self._said[saying] > 0:
            self._said[saying] -= 1
            return False
        return True

    def expect(self, who: str, text: str, draft: Draft) -> None:
        """Keeps the step of an event until a response item says the same."""
        self._waiting.setdefault((who, mark_of(text.strip())), []).append(draft)


def merge_thoughts(drafts: Sequence[Draft]) -> None:
    """Gives thoughts that only events have to the response that they led to."""
    note = StepKind.NOTE
    before: Draft | None = None
    """The step before, notes left out, where it is nothing but thoughts."""
    for draft in drafts:
        if draft.kind is note or draft.is_dropped:
            continue
        if before is not None and _is_response(draft):
            draft.thoughts[:0] = before.thoughts
            before.is_dropped = True
        is_loose = draft.thoughts and not (draft.texts or draft.calls or draft.usage)
        before = draft if is_loose and _is_response(draft) else None


def _is_response(draft: Draft) -> bool:
    return draft.role is Role.ASSISTANT and draft.kind is StepKind.MESSAGE
