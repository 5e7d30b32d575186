"""What events of Codex repeat of the response items: shown once, whichever comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

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
    for draft, following in _with_following(drafts):
        is_loose = draft.thoughts and not (draft.texts or draft.calls or draft.usage)
        if not (is_loose and _is_response(draft)) or following is None:
            continue
        if _is_response(following):
            following.thoughts[:0] = draft.thoughts
            draft.is_dropped = True


def _with_following(drafts: Sequence[Draft]) -> Iterator[tuple[Draft, Draft | None]]:
    """Each step with the one that comes after it, notes left out."""
    kept = [draft for draft in drafts if not draft.is_dropped and draft.kind is not StepKind.NOTE]
    yield from zip_longest(kept, kept[1:])


def _is_response(draft: Draft) -> bool:
    return draft.role is Role.ASSISTANT and draft.kind is StepKind.MESSAGE
