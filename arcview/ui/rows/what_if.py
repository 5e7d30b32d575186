"""Why a gate failed, as a text: the label, both experiments, the tests. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from arcview.analysis.what_if import Transplant, WhatIfLabel
from arcview.model.results import Verdict
from arcview.session.what_if_answer import ArmResult, WhatIf
from arcview.session.what_if_report import MEANINGS
from arcview.ui import theme
from arcview.ui.rows.figures import VERDICT_GLYPH, duration
from arcview.ui.rows.gate_facts import Fact
from arcview.ui.rows.sections import Section
from arcview.ui.safe import one_line


def headline(answer: WhatIf) -> tuple[str, str]:
    """`base: inherited …`, with its style."""
    is_open = answer.label is WhatIfLabel.UNDETERMINED
    text = f"{answer.label.value}: {MEANINGS[answer.label]}"
    return text, theme.UNMEASURED if is_open else f"bold {theme.FAIL}"


def what_if_sections(answer: WhatIf) -> tuple[Section, ...]:
    """The sections of the screen."""
    text, style = headline(answer)
    sections = [
        Section("What made it fail", f"{text}\n", style=style),
        Section("", f"{answer.reason}\n" + "".join(f"{line}\n" for line in _facts(answer))),
        Section(_title("X", answer.reference_base, f"the agent's change {_change(answer)}"),
                _arm(answer.x, answer.x_made)),
        Section(_title("Y", answer.base, f"the reference's change {_reference(answer)}"),
                _arm(answer.y, answer.y_made)),
        Section(_title("As it was", answer.end, "run again"), _arm(answer.recorded, None)),
    ]  # fmt: skip
    if answer.tests:
        lines = (f"{label.value:<12} {test}" for test, label in answer.tests.items())
        sections.append(Section(f"Failing tests  {len(answer.tests)}", "\n".join(lines) + "\n"))
    return tuple(sections)


def _title(name: str, base: str | None, change: str) -> str:
    return f"{name}: {base or '?'} with {change}" if name != "As it was" else f"{name}: {base}"


def _change(answer: WhatIf) -> str:
    return f"{answer.base or '?'}→{answer.end or '?'}"


def _reference(answer: WhatIf) -> str:
    return f"{answer.reference_base}→{answer.reference}"


def _facts(answer: WhatIf) -> Iterator[str]:
    if answer.control:
        yield f"control: {answer.control}"
    if answer.recorded is not None:
        steady = "always the same" if answer.is_steady else "not always the same, or run only once"
        yield f"each run {answer.times}×, {steady}"
    if answer.engine:
        where = "without a container: kept out of statistics" if answer.graded_on_host else ""
        yield f"with {answer.engine}" + (f", {where}" if where else "")
    if not answer.is_final:
        yield "asking again may answer more"


def arm_words(arm: ArmResult | None) -> str:
    """`✓ passed 3/3`, `✗ failed 2/3`; what was not run says so."""
    if arm is None or not arm.verdicts:
        return "not run"
    counts = Counter(arm.verdicts)
    runs = len(arm.verdicts)
    return ", ".join(f"{VERDICT_GLYPH[v]} {v.value} {n}/{runs}" for v, n in counts.items())


def _arm(arm: ArmResult | None, made: Transplant | None) -> str:
    lines = [arm_words(arm)]
    if arm is not None and arm.verdicts:
        lines[0] += f"  {duration(arm.duration_s)}"
        if arm.reason:
            lines.append(arm.reason)
        if arm.failing and Verdict.FAILED in arm.verdicts:
            failing = sorted({test for tests in arm.failing for test in tests})
            lines += [f"✗ {test}" for test in failing]
    if made is not None:
        how = {"lines": "merged line by line", "blocks": "merged by top-level blocks"}
        said = how.get(made.mode, "could not be made")
        lines.append(said + (f": {made.reason}" if made.reason else ""))
        lines += [f"did not merge line by line: {path}" for path in made.conflicts]
        lines += [f"copied along: {name}" for name in made.copied]
        lines += [f"in doubt: {doubt}" for doubt in made.doubts]
        lines += [f"in doubt, should it not build: {doubt}" for doubt in made.build_doubts]
    return "\n".join(lines) + "\n"


def what_if_facts(answer: WhatIf | None) -> tuple[Fact, ...]:
    """What the gate pane says; nothing where nobody asked."""
    if answer is None:
        return ()
    text, style = headline(answer)
    reason = one_line(answer.reason)
    arms = f"  X {arm_words(answer.x)} · Y {arm_words(answer.y)} · {reason}"
    return (
        ("what-if", f"⇄ what if: {text}", style),
        ("what-if-arms", arms, theme.MUTED),
    )
