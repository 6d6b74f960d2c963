"""
The life of a plan for the slider of a report: how it began, and what each step made of it.

The page's script lays the steps upon the beginning, as the board does with what it is sent. Without
scripts the page has no slider, and all else.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from todoplan.board.messages import change, snapshot
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Severity
from todoplan.errors import CodecError
from todoplan.render.markup import Markup, data_block, element
from todoplan.transcripts.replay.findings import Finding

__all__ = ["Life"]


@attrs.define
class Life:
    """
    The life of one plan, step by step; `name` tells it from the others on the page.
    """

    name: str
    _plan: Plan = attrs.Factory(Plan)
    _steps: list[dict[str, Any]] = attrs.Factory(list)
    _is_whole: bool = True

    def add(self, plan: Plan, said: str, findings: Iterable[Finding], item: str) -> None:
        """
        Note what a step made of the plan; `item` is the id of the element that tells of it.
        """
        told = [
            {"code": each.code, "text": each.text, "error": each.severity is Severity.ERROR}
            for each in findings
        ]
        try:
            made = change(self._plan, plan, ())
        except CodecError:
            # What JSON cannot hold stands in no plan that was saved; of a recording it may.
            self._is_whole = False
            return
        self._plan = plan
        self._steps.append({"change": made, "said": said, "findings": told, "item": item})

    def markup(self) -> Markup:
        """
        Return the place of the slider and its data; nothing where there is nothing to slide along.
        """
        if not self._steps or not self._is_whole:
            return Markup("")
        start = snapshot(self.name, Plan(), ())
        data = {"name": self.name, "start": start, "steps": self._steps}
        place = element("div", class_="life", data_of=f"{self.name}-data", hidden="hidden")
        return Markup(f"{place}\n{data_block(f'{self.name}-data', data)}")
