"""Hits of a search as `arcview find` prints them. Pure."""

from __future__ import annotations

from arcview.analysis.search import Hit
from arcview.session.find import KINDS, RunSearch
from arcview.session.plain_text_parts import Glyphs, one_line, shown

SCHEMA = "arcview/find/1"
_BEFORE, _AROUND = 60, 160
"""Characters of a line that are shown before its first match, and in all."""

Json = dict[str, object]


def hit_json(hit: Hit) -> Json:
    """One line of `arcview find --json`: the whole line, as it stands in the run."""
    return {
        "schema": SCHEMA,
        "address": hit.address,
        "kind": hit.place.kind,
        "title": hit.place.title,
        "line": hit.line,
        "text": hit.text,
        "spans": [list(span) for span in hit.spans],
    }


def hit_line(hit: Hit, glyphs: Glyphs) -> str:
    """One hit as text: where it is, and the part of the line around the first match."""
    start = max(0, hit.spans[0][0] - _BEFORE)
    text = hit.text[start : start + _AROUND]
    before = glyphs.more if start else ""
    after = glyphs.more if start + _AROUND < len(hit.text) else ""
    return f"{shown(hit.address)}: {before}{one_line(text)}{after}"


def summary_lines(search: RunSearch) -> list[str]:
    """Counts by kind of place, and what was not searched."""
    counts = ", ".join(
        f"{kind} {search.hits[kind]}"
        for kind in KINDS
        if search.searched[kind] or search.hits[kind]
    )
    total = sum(search.hits.values())
    lines = [
        f"{total} matching line{'' if total == 1 else 's'}" + (f": {counts}" if counts else "")
    ]
    lines += [f"not searched: {one_line(what)}" for what in search.left_out]
    return lines
