"""The keys of labelling: one key for a field, the next for its code. Pure; knows no screen.

A screen hands every key that is bound to nothing else to `KeyPad.press` and shows what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass

from arcview.annotations.scheme import Field
from arcview.session.annotate import AnnotateSession, CaseChange
from arcview.session.annotate_marks import Part

PART_KEYS = {"]": 1, "[": -1}
"""Go from part to part: origins, effects, stages."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """What came of a key."""

    change: CaseChange | None = None
    """What was saved or refused; null where nothing was tried."""
    field: Field | None = None
    """The field whose codes are open now; its codes and definitions are to be shown."""
    taken: bool = True
    """False: the key means nothing here and is somebody else's."""


class KeyPad:
    """Turns keys into labels of the case in hand."""

    def __init__(self, session: AnnotateSession) -> None:
        self._session = session
        self.field: Field | None = None

    def press(self, key: str) -> Pressed:
        """Takes one key, as Textual names its character (`v`, `N`, `0`)."""
        if self.field is None:
            field = self._session.scheme.by_key(key)
            if field is not None:
                self.field = field
                return Pressed(field=field)
            if key in PART_KEYS:
                self.step_part(PART_KEYS[key])
                return Pressed()
            return Pressed(taken=False)
        field, code = self.field, self.field.by_key(key)
        if code is None and key in ("escape", field.key):
            self.close()
            return Pressed()
        if code is None:
            # A slip must not set something else: the field stays open.
            return Pressed(field=field, taken=False)
        change = self._session.label(field.id, code.code)
        # Several codes can be set one after the other; escape or the field's key ends it.
        if field.kind != "many":
            self.field = None
        return Pressed(change, self.field)

    def close(self) -> bool:
        """Leaves the open field; says whether one was open."""
        was_open = self.field is not None
        self.field = None
        return was_open

    def parts(self) -> tuple[Part, ...]:
        """The parts of one's reading in the order of the form."""
        own = self._session.reading
        if own is None:
            return ()
        stages = {a.stage for a in own.awareness}
        start = min((o.stage for o in own.origins if o.stage is not None), default=None)
        if start is not None:
            stages |= {s.index for s in self._session.opened.run.stages if s.index > start}
        return (
            *(Part("origins", origin.id) for origin in own.origins),
            *(Part("effects", effect.id) for effect in own.effects),
            *(Part("awareness", str(stage)) for stage in sorted(stages)),
        )

    def step_part(self, by: int) -> Part | None:
        """Takes the next part in hand, round and round; null where there is none."""
        parts = self.parts()
        if not parts:
            return None
        here = self._session.part
        at = parts.index(here) if here in parts else (-1 if by > 0 else 0)
        self._session.part = parts[(at + by) % len(parts)]
        return self._session.part
