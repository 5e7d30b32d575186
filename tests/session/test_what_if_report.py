from __future__ import annotations

from arcview.analysis.what_if import Transplant, WhatIfLabel
from arcview.session.plain_text_parts import Glyphs
from arcview.session.what_if_answer import WhatIf
from arcview.session.what_if_report import what_if_lines


def answer(made: Transplant) -> WhatIf:
    label = WhatIfLabel.UNDETERMINED
    return WhatIf("run", "2", label, "why", "S1", "S2", "R1", "R2", x_made=made)


def test_what_may_keep_a_tree_from_building_is_shown() -> None:
    found = answer(Transplant("t" * 40, "lines", build_doubts=("a.go: uses helper",)))
    text = "\n".join(what_if_lines(found, Glyphs()))
    assert "lacks, should it not build: a.go: uses helper" in text


def test_doubts_that_are_left_out_are_counted() -> None:
    doubts = tuple(f"{name}.py: uses helper" for name in "abcde")
    lines = list(what_if_lines(answer(Transplant("t" * 40, "lines", doubts=doubts)), Glyphs()))
    at = lines.index("       lacks: c.py: uses helper")
    assert lines[at + 1] == "       … and 2 more"
    assert not any("d.py" in line for line in lines)
