"""What the rerun screen is set to: the gate, the state to run it on, how often. Pure.

The reference's states are among the choices only after they were asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.model.run import Run
from arcview.model.states import StateKind

MOST_TIMES = 99


@dataclass(slots=True)
class ImageChoices:
    """Which images will do, for all gates of a sitting."""

    allow_other: bool = False
    """One of the recorded name that is not the recorded one."""
    pull: bool = False
    """One that is not there is fetched."""


@dataclass(slots=True)
class RerunSession:
    """The choices for one gate; begins at the state that is asked for, once."""

    run: Run
    gate: str
    state: str | None
    """Id of the chosen state; null where the run has none that could be run on."""
    times: int = 1
    differences_only: bool = False
    reference_revealed: bool = False
    images: ImageChoices = field(default_factory=ImageChoices)
    on_host: bool = False
    """Run on this machine, without a container; holds for this gate and no longer than chosen."""
    is_asked: bool = field(init=False, default=False)
    """The person was asked whether to run it on this machine, and has yet to answer."""
    states: tuple[str, ...] = field(init=False, default=())
    """Ids of the states that can be chosen, in order."""

    def __post_init__(self) -> None:
        """A state that is asked for and belongs to the reference reveals it."""
        chosen = self.run.state(self.state)
        if chosen is not None and chosen.kind is StateKind.REFERENCE:
            self.reference_revealed = True
        self._list()
        if self.state not in self.states:
            self.state = self.states[-1] if self.states else None

    def _list(self) -> None:
        self.states = tuple(
            state.id
            for state in self.run.states
            if self.reference_revealed or state.kind is not StateKind.REFERENCE
        )

    @property
    def has_reference(self) -> bool:
        """Whether the run has states of a reference."""
        return any(state.kind is StateKind.REFERENCE for state in self.run.states)

    def step_state(self, by: int) -> str | None:
        """Chooses the next state, or the one before; says why there is none."""
        if self.state is None:
            return "no state of this run is recorded"
        at = self.states.index(self.state) + by
        if not 0 <= at < len(self.states):
            more = self.has_reference and not self.reference_revealed
            return "there is no further state" + ("; R adds those of the reference" if more else "")
        self.state, self.is_asked = self.states[at], False
        return None

    def reveal_reference(self) -> str:
        """Lets the reference's states be chosen; says what came of it."""
        if not self.has_reference:
            return "this run has no reference states"
        self.reference_revealed = True
        self._list()
        return "the reference's states can be chosen now, after the others"

    def toggle_engine(self) -> None:
        """On this machine, and back into containers."""
        self.on_host, self.is_asked = not self.on_host, False

    def confirm(self) -> bool:
        """Whether it may run now: on this machine only when it is wanted twice, every time."""
        self.is_asked = self.on_host and not self.is_asked
        return not self.is_asked

    def change_times(self, by: int) -> None:
        """As often, one more or less."""
        self.times = max(1, min(MOST_TIMES, self.times + by))
