from __future__ import annotations

from arcview.gates.results import flakiness
from arcview.session.plain_text_parts import Glyphs
from arcview.session.reruns_report import result_lines
from tests.gates.some_results import result


def test_no_text_of_a_stored_result_reaches_the_terminal_as_it_is() -> None:
    evil = "\x1b[31mx\x07\u202e\n"
    found = result({evil: "failed"}, gate=evil, label=evil, reason=evil, notes=(evil,))
    lines = list(result_lines([found], None, flakiness((found,)), Glyphs()))
    assert len(lines) > 2
    assert all(line.isprintable() for line in lines)
