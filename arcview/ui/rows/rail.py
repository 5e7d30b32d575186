"""The stage rail: every stage, the between-states and the chain gate as cards in a row. Pure.

A tall rail draws boxes of four lines, a low one two lines a stage. Where not all cards fit, a
window of them is drawn around the selected one, with how many are left out on each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.content import Content

from arcview.analysis.overview import GateCell, Overview, StageRow
from arcview.model.results import GroupCounts, Verdict
from arcview.session.run_session_stops import Stop, StopKind
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import (
    STATUS_BADGE,
    VERDICT_GLYPH,
    VERDICT_STYLE,
    cost,
    counted,
    duration,
    fit,
    fraction,
    plural,
)
from arcview.ui.safe import one_line

Piece = tuple[str, str]
"""Text and style."""
_MIN, _TALL_MAX, _LOW_MAX = 14, 38, 24
_LEAST_EDGE, _ARROW = 3, 2
_HEAVY, _ROUND = tuple("┏┓┗┛━┃"), tuple("╭╮╰╯─│")
_BORDER = "$border-blurred"
_CHOSEN = "bold $primary"


@dataclass(frozen=True, slots=True)
class RailItem:
    """What one card says."""

    kind: StopKind
    number: str
    """`3`, `chain`, or the name of what made a between-state."""
    title: str
    verdict: Verdict
    conflict: bool = False
    counts: tuple[tuple[str, GroupCounts], ...] = ()
    """The measured groups with their names."""
    badge: str = ""
    """How the stage ended, where it did not simply complete."""
    figures: tuple[str, ...] = ()
    """Cost, time and steps, those that are known."""
    debt: int | None = None
    """Earlier tests that the stage carries broken."""


@dataclass(frozen=True, slots=True)
class Rail:
    """The drawn rail and where on it each card is."""

    lines: tuple[Content, ...]
    areas: tuple[tuple[int, int, int], ...]
    """First column, column after the last, position in the stops."""

    def stop_at(self, column: int) -> int | None:
        """The card that is drawn at a column."""
        return next((stop for start, end, stop in self.areas if start <= column < end), None)


def rail_items(overview: Overview, stops: Iterable[Stop]) -> tuple[RailItem, ...]:
    """One item for each stop, in their order."""
    rows = {row.index: row for row in overview.stages}
    return tuple(_item(overview, rows, stop) for stop in stops)


def _item(overview: Overview, rows: dict[int, StageRow], stop: Stop) -> RailItem:
    if stop.kind is StopKind.CHAIN:
        return _gate_item(stop.kind, "chain", "gate", overview.chain_gate)
    row = rows[stop.stage]
    if stop.kind is StopKind.BETWEEN:
        cell = next((cell for cell in row.between if cell.state == stop.state), None)
        name = (stop.state or "").partition(".")[2] or stop.state or "between"
        return _gate_item(stop.kind, one_line(name), "", cell)
    figures = (cost(row.cost_usd), duration(row.duration_s))
    steps = plural(row.steps, "step") if row.steps is not None else ""
    return RailItem(
        kind=stop.kind,
        number=str(row.index),
        title=one_line(row.title or ""),
        verdict=row.judgement.verdict,
        conflict=row.judgement.conflict,
        counts=counted(row.f2p, row.p2p, row.other),
        badge=STATUS_BADGE.get(row.status, ""),
        figures=tuple(figure for figure in (*figures, steps) if figure),
        debt=row.debt,
    )


def _gate_item(kind: StopKind, number: str, title: str, cell: GateCell | None) -> RailItem:
    if cell is None:
        return RailItem(kind, number, title, Verdict.UNMEASURED)
    counts = counted(cell.f2p, cell.p2p, cell.other)
    judgement = cell.judgement
    return RailItem(kind, number, title, judgement.verdict, judgement.conflict, counts)


def lay_out(items: Sequence[RailItem], selected: int, width: int, *, tall: bool) -> Rail:
    """Draws the rail.

    Args:
        items: One for each stop.
        selected: Position of the selected one.
        width: Columns there are.
        tall: Boxes of four lines instead of two lines.
    """
    cards = [i for i, item in enumerate(items) if item.kind is not StopKind.BETWEEN]
    least = [_least_width(items[card], tall=tall) for card in cards]
    joins = [_join_width(items, card) for card in cards]
    first, last = _window(cards, least, joins, selected, width)
    left, right = first, len(cards) - last
    edge = _edge_width(cards)
    edges = (edge if left else 0) + (edge if right else -_ARROW)
    room = width - edges - sum(joins[first:last])
    widths = _shares(least[first:last], room, _TALL_MAX if tall else _LOW_MAX)
    shown = cards[first:last]
    named = tall and all(_fits_named(items[c], w - 2) for c, w in zip(shown, widths, strict=True))
    height = 4 if tall else 2
    lines: list[list[Piece]] = [[] for _ in range(height)]
    areas: list[tuple[int, int, int]] = []
    at = _edge(lines, f"‹{left}", edge, tall=tall) if left else 0
    for card, share in zip(shown, widths, strict=True):
        chosen = card == selected
        if tall:
            _append(lines, _tall_card(items[card], share, chosen=chosen, named=named))
        else:
            _append(lines, _low_card(items[card], share, chosen=chosen))
        areas.append((at, at + share, card))
        at += share
        at = _joins(lines, items, card, at, areas, selected, tall=tall, end=card == cards[-1])
    if right:
        _edge(lines, f"›{right}", edge, tall=tall)
    return Rail(tuple(Content.assemble(*line) for line in lines), tuple(areas))


def _least_width(item: RailItem, *, tall: bool) -> int:
    """The narrowest card that cuts no count."""
    counts = cells(_counts(item.counts, named=False))
    return max(_MIN, counts + len(_glyph(item)) + 3 if tall else counts + 2)


def _shares(least: Sequence[int], room: int, most: int) -> list[int]:
    """Widths as equal as they can be: none below its least, together no wider than the room."""
    if sum(least) > room:
        return [max(1, room // max(1, len(least)))] * len(least)
    level = most
    while sum(max(low, level) for low in least) > room:
        level -= 1
    return [max(low, level) for low in least]


def _window(
    cards: Sequence[int], least: Sequence[int], joins: Sequence[int], selected: int, width: int
) -> tuple[int, int]:
    """Which cards fit around the selected one, as a range of positions in `cards`."""
    if sum(joins) - _ARROW + sum(least) <= width:
        return 0, len(cards)
    width -= 2 * _edge_width(cards)
    centre = max((i for i, card in enumerate(cards) if card <= selected), default=0)
    first, last = centre, centre + 1
    used = least[centre] + joins[centre]
    grew = True
    while grew:
        grew = False
        for at, side in ((last, 1), (first - 1, -1)):
            if 0 <= at < len(cards) and used + least[at] + joins[at] <= width:
                used += least[at] + joins[at]
                first, last = (first, last + 1) if side > 0 else (first - 1, last)
                grew = True
    return first, last


def _join_width(items: Sequence[RailItem], card: int) -> int:
    return _ARROW + 3 * len(_between_after(items, card))


def _between_after(items: Sequence[RailItem], card: int) -> list[int]:
    found: list[int] = []
    for position in range(card + 1, len(items)):
        if items[position].kind is not StopKind.BETWEEN:
            break
        found.append(position)
    return found


def _append(lines: list[list[Piece]], block: Sequence[Sequence[Piece]]) -> None:
    for line, pieces in zip(lines, block, strict=True):
        line.extend(pieces)


def _edge_width(cards: Sequence[int]) -> int:
    """Columns for how many cards are left out on one side."""
    return max(_LEAST_EDGE, 1 + len(str(len(cards))))


def _edge(lines: list[list[Piece]], text: str, width: int, *, tall: bool) -> int:
    """How many cards are left out on one side; returns its width."""
    row = 1 if tall else 0
    for number, line in enumerate(lines):
        line.append((f"{text if number == row else '':<{width}}", theme.MUTED))
    return width


def _joins(
    lines: list[list[Piece]],
    items: Sequence[RailItem],
    card: int,
    at: int,
    areas: list[tuple[int, int, int]],
    selected: int,
    *,
    tall: bool,
    end: bool,
) -> int:
    """What stands between a card and the next: an arrow and a mark for each between-state."""
    row = 1 if tall else 0
    arrow = "" if end else ("─▸" if tall else " ▸")
    for position in _between_after(items, card):
        item = items[position]
        chosen = position == selected
        style = f"{'reverse ' if chosen else ''}{VERDICT_STYLE[item.verdict]}"
        mark = f"{'◆' if chosen else '◇'}{VERDICT_GLYPH[item.verdict]}"
        for number, line in enumerate(lines):
            line.append((" " if number != row or not tall else "─", _BORDER))
            line.append((mark, style) if number == row else ("  ", ""))
        areas.append((at, at + 3, position))
        at += 3
    for number, line in enumerate(lines):
        line.append((arrow if number == row else " " * len(arrow), _BORDER))
    return at + len(arrow)


def _tall_card(item: RailItem, width: int, *, chosen: bool, named: bool) -> tuple[list[Piece], ...]:
    left_top, right_top, left_low, right_low, across, down = _HEAVY if chosen else _ROUND
    border = _CHOSEN if chosen else _BORDER
    inner = width - 2
    head = fit(f" {item.number} {item.title}".rstrip() + " ", inner)
    top = [
        (left_top, border),
        (head, "bold" if chosen else ""),
        (across * (inner - cells(head)) + right_top, border),
    ]
    side = (down, border)
    verdict = _padded(_verdict_line(item, inner, named=named), inner)
    figures = (fit(_first_that_fits(_shortened(item.figures), inner), inner, pad=True), theme.MUTED)
    return (top, [side, *verdict, side], [side, figures, side],
            _bottom(item, inner, (left_low, right_low, across), border))  # fmt: skip


def _bottom(item: RailItem, inner: int, corners: tuple[str, str, str], border: str) -> list[Piece]:
    """The lower border carries the badge and how many earlier tests are broken."""
    left, right, across = corners
    debt = f" ▲{item.debt} " if item.debt else ""
    badge = fit(f" {item.badge} ", inner - len(debt)) if item.badge else ""
    line = across * (inner - cells(badge) - len(debt))
    return [
        (left, border),
        (badge, theme.WARN),
        (line, border),
        (debt, theme.FAIL),
        (right, border),
    ]


def _low_card(item: RailItem, width: int, *, chosen: bool) -> tuple[list[Piece], ...]:
    bar = "▌" if chosen else " "
    face = "bold " if chosen else ""
    glyph = _glyph(item)
    debt = f" ▲{item.debt}" if item.debt else ""
    badge = f" {item.badge}" if item.badge else ""
    inner = width - 2
    head = fit(f"{item.number} ", inner)
    rest = inner - cells(head) - len(glyph)
    # Without counts there is room for how the stage ended below its title.
    ended, badge = ("", badge) if item.counts else (item.badge, "")
    note = fit(f"{debt}{badge}" if debt or badge else f" {item.title}", rest, pad=True)
    counts = fit(_counts(item.counts, named=False) or ended or "unmeasured", inner, pad=True)
    return (
        [
            (bar, _CHOSEN),
            (head, f"{face}"),
            (glyph, face + VERDICT_STYLE[item.verdict]),
            (note, theme.FAIL if debt else theme.WARN if badge else theme.MUTED),
            (" ", ""),
        ],
        [
            (bar, _CHOSEN),
            (counts, face.strip() if item.counts else theme.WARN if ended else theme.MUTED),
            (" ", ""),
        ],
    )


def _verdict_line(item: RailItem, width: int, *, named: bool) -> list[Piece]:
    style = VERDICT_STYLE[item.verdict]
    glyph = _glyph(item)
    room = width - len(glyph) - 1
    if not item.counts:
        return [(f"{glyph} ", style), (fit("unmeasured", room), style)]
    return [(f"{glyph} ", f"bold {style}"), (fit(_counts(item.counts, named=named), room), style)]


def _fits_named(item: RailItem, width: int) -> bool:
    return cells(_counts(item.counts, named=True)) + len(_glyph(item)) + 1 <= width


def _glyph(item: RailItem) -> str:
    return VERDICT_GLYPH[item.verdict] + ("!" if item.conflict else "")


def _counts(counts: Sequence[tuple[str, GroupCounts]], *, named: bool) -> str:
    parts = (f"{name} {fraction(c)}" if named else fraction(c) for name, c in counts)
    return " ".join(parts)


def _shortened(figures: Sequence[str]) -> tuple[str, ...]:
    """The figures with separators, without, and with ever fewer of them."""
    tight = tuple(" ".join(figures[:count]) for count in range(len(figures), 0, -1))
    return (" · ".join(figures), *tight)


def _first_that_fits(texts: Sequence[str], width: int) -> str:
    return next((text for text in texts if cells(text) <= width), texts[-1] if texts else "")


def _padded(pieces: list[Piece], width: int) -> list[Piece]:
    used = sum(cells(text) for text, _ in pieces)
    return [*pieces, (" " * (width - used), "")]
