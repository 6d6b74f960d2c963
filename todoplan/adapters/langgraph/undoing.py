"""
How an application takes the last change of a thread's plan back.

A store has the whole journal. The state has the latest part of it, and the thread's checkpoints
have earlier plans: between them they say what was before the last change, as a rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
from langchain_core.runnables import RunnableConfig

from todoplan.adapters.langgraph.editing import edit_update
from todoplan.adapters.langgraph.state import history_of, plan_in, value_in
from todoplan.adapters.langgraph.stored_plans.mark import is_stored
from todoplan.adapters.langgraph.threads import (
    Graph,
    aplanner_of,
    check,
    node_of,
    planner_of,
    plans_of,
)
from todoplan.core.decide.decide import Decision
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.clock import utc_now
from todoplan.dialogue.undoing import Start, last_change, plan_before, starts, undone

__all__ = ["aundo_plan", "undo_plan"]


def undo_plan(
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """
    Take the last change of a thread's plan back that still stands, whoever made it; again, the one
    before it.

    What was before it is found in the journal and in the thread's earlier checkpoints. When it is
    possible, and what the other arguments mean, is as of `edit_plan`.

    Raises:
        PlanError: as of `edit_plan`; or neither says what was before the change.
    """
    if plans := plans_of(graph):
        return planner_of(plans, graph, config).undo(actor=actor)
    check(graph, config)
    state = graph.get_state(config)
    node = node_of(graph, config, state, as_node, stopped=stopped)
    undoing = _Undoing.of(state.values)
    earlier = graph.get_state_history(config)
    while undoing.is_open and (found := next(earlier, None)):
        undoing.look_at(found.values)
    decision, update = undoing.done(state.values, actor)
    if update:
        graph.update_state(config, update, node)
    return decision


async def aundo_plan(
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Decision:
    """
    As `undo_plan`, for asynchronous checkpointers and stores.
    """
    if plans := plans_of(graph):
        return await (await aplanner_of(plans, graph, config)).undo(actor=actor)
    check(graph, config)
    state = await graph.aget_state(config)
    node = node_of(graph, config, state, as_node, stopped=stopped)
    undoing = _Undoing.of(state.values)
    async for found in graph.aget_state_history(config):
        if not undoing.is_open:
            break
        undoing.look_at(found.values)
    decision, update = undoing.done(state.values, actor)
    if update:
        await graph.aupdate_state(config, update, node)
    return decision


@attrs.define
class _Undoing:
    """
    The last change of a plan, and the plan before it, once that is found.
    """

    plan: Plan
    journal: tuple[Entry, ...]
    change: Entry | None
    before: Plan | None = None
    _may_go_on: bool = True

    @classmethod
    def of(cls, values: Any) -> _Undoing:
        plan, journal = plan_in(values), history_of(values) if value_in(values) else ()
        made = cls(plan, journal, last_change(journal))
        made._try(starts(journal))
        return made

    @property
    def is_open(self) -> bool:
        return self.change is not None and self.before is None and self._may_go_on

    def look_at(self, values: Any) -> None:
        """
        Try the plan of an earlier checkpoint.
        """
        value = value_in(values)
        known = history_of(values) if value and not is_stored(value) else ()
        if known and known[-1] in self.journal:
            self._try([Start(plan_in(values), self.journal.index(known[-1]) + 1)])
        else:  # what happened between it and the journal has been dropped, as of all before it
            self._may_go_on = False

    def _try(self, known: Iterable[Start]) -> None:
        if self.change is not None:
            self.before = plan_before(self.change, self.plan, self.journal, known)

    def done(self, values: Any, actor: str | None) -> tuple[Decision, dict[str, Any]]:
        decision, entry = undone(self.plan, self.change, self.before, at=utc_now(), actor=actor)
        return decision, edit_update(values, decision, entry)
