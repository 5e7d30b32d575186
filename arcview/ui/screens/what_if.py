"""Whether the failure of a gate is inherited or local: both experiments, run and kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from arcview.errors import ArcviewError
from arcview.session.commands import Context
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunPlan
from arcview.session.what_if import TIMES, WhatIfEvent, WhatIfPhase, WhatIfs
from arcview.session.what_if_answer import WhatIf
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.rerun_facts import plan_facts
from arcview.ui.rows.sections import Section, SectionRows
from arcview.ui.rows.what_if import what_if_sections
from arcview.ui.safe import pieces
from arcview.ui.screens.job_panes import JobPanes
from arcview.ui.screens.rerun_job import RerunJob
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_remark, set_title

if TYPE_CHECKING:
    from arcview.ui.screens.rerun_sitting import RerunSitting

WHAT_IF = "what if"
"""What stands for the state of such a job."""
_ABOUT = (
    "X puts the agent's change of this stage on the reference's base; Y puts the reference's "
    "change on the agent's base. X passes and Y fails: inherited. The other way round: local.\n"
)


class WhatIfScreen(JobPanes):
    """The answer for one gate, or what asking would do."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.WHAT_IF)

    def __init__(self, sitting: RerunSitting, gate: str) -> None:
        """Makes the screen.

        Args:
            sitting: The reruns of the run.
            gate: The failing gate.
        """
        super().__init__(sitting)
        self._gate = gate
        self._plan: RerunPlan | None = None
        self._answer: WhatIf | None = None
        self._refused = ""

    def on_mount(self) -> None:
        """Looks whether it was asked before."""
        self.set_class(True, "-quiet")
        self._lay_out()
        self._sitting.moved = self._moved
        name = "chain gate" if self._gate == "chain" else f"gate {self._gate}"
        set_title(self.result, pieces((f"What if: {name}", "bold")))
        say(self.result, "… looking whether it was asked before")
        self.result.focus()
        self.show_hints()
        self._look_up()
        if self._job is not None and self._is_running:
            self._moved(self._job)

    @property
    def context(self) -> Context:
        """What if."""
        return Context.WHAT_IF

    @property
    def _job(self) -> RerunJob | None:
        job = self._sitting.job
        is_ours = job is not None and (job.gate, job.state) == (self._gate, WHAT_IF)
        return job if is_ours else None

    def _look_up(self) -> None:
        def get(reruns: Reruns) -> Callable[[], None]:
            asked = WhatIfs(reruns.opened, reruns)
            answer, plan = None, None
            try:
                needs_runs = asked.most_runs(self._gate) > 0
                answer = asked.known(self._gate) if needs_runs else asked.ask(self._gate)
                plan = reruns.plan(self._gate, reruns.default_target(self._gate))
            except ArcviewError as error:
                return partial(self._put, answer, plan, str(error))
            return partial(self._put, answer, plan)

        self._sitting.read(get, "looking what-if up")

    def _put(self, answer: WhatIf | None, plan: RerunPlan | None, refused: str = "") -> None:
        if not self.is_attached:
            return
        self._answer, self._plan, self._refused = answer, plan, refused
        if answer is not None:
            self.result.set_source(SectionRows(what_if_sections(answer)))
            set_remark(self.result, pieces((answer.created[:19].replace("T", " "), theme.MUTED)))
        elif plan is None:
            why = (Section("", f"✗ {refused}\n", style=theme.FAIL),)
            self.result.set_source(SectionRows(why))
        elif self._job is None or not self._job.is_running:
            self.result.set_source(SectionRows(self._question(plan)))
            set_remark(self.result, Content(""))

    def _question(self, plan: RerunPlan) -> tuple[Section, ...]:
        if plan.unavailable is not None:
            why = Section("", f"cannot be run here: {plan.unavailable}\n", style=theme.WARN)
            ask = (why, Section("The command for the recorded state", f"{plan.shell}\n"))
        else:
            text = f"r runs the gate {TIMES}× on X, Y and the recorded state, after its control"
            facts = "\n".join(f"{said.label:<9} {said.text}" for said in plan_facts(plan))
            ask = (Section("", f"{text}\n", style="bold $warn"), Section("What runs", f"{facts}\n"))
        return (Section("Inherited or local?", _ABOUT), *ask)

    # Running

    def action_start(self) -> None:
        """Asks, or asks again."""
        plan = self._plan
        if plan is None:
            self.notice(self._refused or "… still asking the engine")
        elif plan.unavailable is not None:
            self.notice(plan.unavailable)
        else:
            self._sitting.confirm()
            again = self._answer is not None
            job = self._sitting.new_job(self._gate, WHAT_IF)
            refused = self._sitting.launch(job, partial(self._run, again))
            if refused is not None:
                self.notice(refused)
            else:
                self._moved(job)

    def _run(self, again: bool, job: RerunJob) -> None:
        reruns = self._sitting.reruns()

        def on_event(event: WhatIfEvent) -> None:
            said = f"on {event.label}" if event.phase is WhatIfPhase.RUNNING else event.phase.value
            number = f", {event.number} of {event.times}" if event.times else ""
            job.at(1, f"{said}{number}")

        WhatIfs(reruns.opened, reruns).ask(
            self._gate,
            again=again,
            on_event=on_event,
            on_output=job.feed,
            cancelled=lambda: job.is_cancelled,
        )
        job.end(())

    def _over(self, job: RerunJob) -> None:
        if job.is_cancelled:
            self.notice("stopped; what was measured is kept")
        elif job.error is not None:
            self.notice(job.error)
        set_title(self.output, pieces(("Output", "bold"), ("  of the last runs", theme.MUTED)))
        self.set_class(not job.output.total_bytes, "-quiet")
        self._look_up()
