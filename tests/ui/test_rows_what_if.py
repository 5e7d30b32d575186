from __future__ import annotations

from arcview.analysis.what_if import Transplant, WhatIfLabel
from arcview.session.what_if_answer import WhatIf
from arcview.ui.rows.what_if import what_if_sections


def test_both_kinds_of_doubt_are_shown_each_by_its_name() -> None:
    made = Transplant("t" * 40, "lines", doubts=("a.py: x",), build_doubts=("a.go: y",))
    label = WhatIfLabel.UNDETERMINED
    answer = WhatIf("run", "2", label, "why", "S1", "S2", "R1", "R2", y_made=made)
    shown = "".join(section.text for section in what_if_sections(answer))
    assert "in doubt: a.py: x\n" in shown
    assert "in doubt, should it not build: a.go: y\n" in shown
