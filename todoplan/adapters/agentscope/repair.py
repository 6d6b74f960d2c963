"""For developers: a list that was seeded or imported, checked and mended before an agent runs."""

from agentscope.state import AgentState

from todoplan.adapters.agentscope.state import load

__all__ = ["repair"]


def repair(state: AgentState) -> tuple[str, ...]:
    """
    Mend the state's task list in place, and return what was mended, in words; () if it was fine.

    Ids that are no numbers or stand twice get new ones, edges are noted at both of their tasks,
    those that lead nowhere are dropped, and a task without a subject gets one.

    Raises:
        PlanError: what can be mended in more than one way: a cycle, edges that name an id which
            stands twice. `data["problems"]` holds every fault. The list is left as it was.
        CodecError: a task holds what no plan can. The list is left as it was.
    """
    return tuple(load(state).told())
