"""What measuring the missing cells would do, as a text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.analysis.matrix_plan import MatrixPlan
from arcview.session.reruns_model import RerunPlan
from arcview.ui import theme
from arcview.ui.rows.figures import duration, plural
from arcview.ui.rows.rerun_facts import plan_facts
from arcview.ui.rows.sections import Section

_SHOWN = 8


def plan_sections(
    plan: MatrixPlan, jobs: int, first: RerunPlan | None, *, asks: bool
) -> tuple[Section, ...]:
    """The sections: how much and how long, what a run does, and what cannot be measured.

    Args:
        plan: The cells.
        jobs: How many run at once.
        first: What the first of them does; null where there is none.
        asks: Nothing was run in this sitting, so the person is told what x agrees to.
    """
    head = "\n".join(_head(plan, jobs))
    sections = [Section(f"Run what is missing  {_count(plan)}", f"{head}\n")]
    if first is not None and first.unavailable is not None:
        why = f"cannot be run here: {first.unavailable}\n"
        sections = [Section("Nothing can be run", why, style=theme.WARN), *sections]
        title = "The command that does the first cell without arcview"
        sections.append(Section(title, f"{first.shell}\n"))
    elif first is not None and asks:
        facts = "\n".join(f"{said.label:<9} {said.text}" for said in plan_facts(first))
        title = f"What runs, for instance gate {first.definition.gate} on {first.target.label}"
        sections.append(Section(title, facts + "\n"))
    if plan.impossible:
        lines = [f"gate {gate}{f' on {state}' if state else ''}: {why}"
                 for gate, state, why in plan.impossible]  # fmt: skip
        sections.append(Section(f"Cannot be measured  {len(lines)}", "\n".join(lines) + "\n"))
    return tuple(sections)


def _count(plan: MatrixPlan) -> str:
    controls = len(plan.controls or {})
    more = f" after {plural(controls, 'control')}" if controls else ""
    return f"{plural(len(plan.cells), 'cell')}{more}"


def _head(plan: MatrixPlan, jobs: int) -> Iterator[str]:
    if not plan.cells:
        yield "Nothing is missing."
        return
    time = plan.estimate(jobs)
    about = f"about {duration(time)}" if time is not None else "nobody knows how long"
    if time is None and plan.unknown < len(plan.cells):
        about += f": {plural(plan.unknown, 'cell')} never ran"
    yield f"{about} with {jobs} at once (+ and - change that)"
    shown = [f"gate {cell.gate} on {cell.state}" for cell in plan.cells[:_SHOWN]]
    more = len(plan.cells) - len(shown)
    yield f"in this order: {', '.join(shown)}{f' and {more} more' if more else ''}"
    yield "x runs them; escape leaves it"
