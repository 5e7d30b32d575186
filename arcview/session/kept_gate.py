"""How a gate view is kept in the view cache: its groups name their tests instead of repeating them.

Otherwise every message would lie in the cache, and in memory, twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from arcview.analysis.gate_view import GateView, SignatureGroup


@dataclass(frozen=True, slots=True)
class KeptGroup:
    """A signature group whose tests are positions in `GateView.failing`."""

    signature: str
    title: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptGateView:
    """A gate view without groups, and the groups."""

    view: GateView
    groups: tuple[KeptGroup, ...]


def keep(view: GateView) -> KeptGateView:
    """What to keep of a view."""
    places = {id(failing.test): place for place, failing in enumerate(view.failing)}
    groups = tuple(
        KeptGroup(group.signature, group.title, tuple(places[id(test)] for test in group.tests))
        for group in view.groups
    )
    return KeptGateView(replace(view, groups=()), groups)


def restore(kept: KeptGateView) -> GateView:
    """The view that was kept."""
    failing = kept.view.failing
    groups = tuple(
        SignatureGroup(group.signature, group.title, tuple(failing[m].test for m in group.members))
        for group in kept.groups
    )
    return replace(kept.view, groups=groups)
