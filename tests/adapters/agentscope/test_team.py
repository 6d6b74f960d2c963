"""Law 19 through AgentScope: sessions on one plan, whose claims outlive a process."""

from agentscope.state import AgentState
from support.agentscope_agent import agent_of, reply, results, use

from todoplan import MemoryStore, Planner, Task, plan_of
from todoplan.adapters.agentscope import attach
from todoplan.dialogue import Toolbox, lean
from todoplan.dialogue.guidance import Settings

QUIET = Settings(plan_lost=False, unfinished=0, changed=False)
TWO = plan_of([Task("1", "Dig"), Task("2", "Lay")])


def answers(store, state, *script, actor=None):
    """
    Return what an agent of the team is answered, in a session.
    """
    toolbox = Toolbox(lean(team=True))
    kept = attach(toolbox, settings=QUIET, store=store, plan_id="shared", actor=actor)
    agent = agent_of(*script, "ok", state=state, **kept)
    reply(agent)
    return "\n".join(text for _, text in results(agent)), agent.state


def test_two_sessions_share_a_plan_and_one_is_resumed():
    """The fence is kept with the session, also where that is saved and read again."""
    store = MemoryStore()
    Planner(store, "shared").restore(TWO)
    ann, bob = (AgentState(session_id=name) for name in ("ann", "bob"))
    first, ann = answers(store, ann, use("plan", next=True))
    assert "#1 claimed (fence 1): Dig" in first
    second, bob = answers(store, bob, use("plan", next=True), use("plan", done=[1]))
    assert "#2 claimed (fence 1): Lay" in second
    assert "Task 1 is claimed by ann" in second
    ann = AgentState.model_validate_json(ann.model_dump_json())
    last, ann = answers(store, ann, use("plan", done=[1]))
    assert "1/2: #1 completed" in last
    assert [task.status.value for task in store.load("shared")] == ["completed", "in_progress"]


def test_an_agent_that_has_a_name_claims_in_that():
    """Also where its sessions have names of their own."""
    store = MemoryStore()
    Planner(store, "shared").restore(TWO)
    answers(store, AgentState(session_id="ann"), use("plan", next=True), actor="digger")
    assert store.load("shared")["1"].claim.owner == "digger"
    answers(store, AgentState(session_id="bob"), use("plan", next=True))
    assert store.load("shared")["2"].claim.owner == "bob"
