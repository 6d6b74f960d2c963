"""A reminder asks nobody for what others work on (law 19)."""

from datetime import UTC, datetime, timedelta

from todoplan.core.commands import ClaimTask, CreateTask
from todoplan.core.plan.questions import within_reach
from todoplan.dialogue import Guidance, Settings, Toolbox, lean, unfinished_error
from todoplan.dialogue.guidance import Memory, Message, before_partial
from todoplan.dialogue.toolbox import claimed_by_others
from todoplan.planner import Planner

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEAM = lean(team=True)
ANSWER = Message("assistant", "All done.")


def team():
    """Return a planner of a plan in which ann works on #1, bob on #2, and #3 waits for #2."""
    planner = Planner(toolbox=Toolbox(TEAM), clock=lambda: NOON)
    for subject, options in (("Dig", {}), ("Lay", {}), ("Fill", {"blocked_by": ("2",)})):
        planner.apply(CreateTask(subject, **options))
    planner.call("plan", {"next": True}, actor="ann")
    planner.apply(ClaimTask("bob", lease=60), actor="bob")
    return planner


def test_a_final_answer_is_sent_back_for_ones_own_tasks_alone():
    """What others work on, and what can only start after that, is not asked for."""
    planner, guidance = team(), Guidance(TEAM)
    plan = planner.plan
    claimed = planner.claimed_by_others(plan, actor="ann")
    assert claimed == {"2"}
    advice = guidance.after_model(plan, ANSWER, Memory(), claimed=claimed)
    assert advice.verdict == "again"
    assert "#1" in advice.text
    assert not {"#2", "#3"} & set(advice.text.replace(":", " ").split())
    planner.call("plan", {"done": [1]}, actor="ann")
    plan = planner.plan
    assert guidance.after_model(plan, ANSWER, Memory(), claimed=claimed).verdict == "accept"
    assert guidance.after_model(plan, ANSWER, Memory()).verdict == "again"


def test_an_agent_that_may_not_stop_is_not_stopped_for_the_work_of_others():
    """Neither by the verdict, nor by what is then raised."""
    planner = team()
    guidance = Guidance(TEAM, Settings(unfinished=1, on_ignored="raise"))
    plan, spent = planner.plan, Memory(asked=1)
    both = {"1", "2"}
    assert guidance.after_model(plan, ANSWER, spent, claimed=both).verdict == "accept"
    assert guidance.after_model(plan, ANSWER, spent, claimed={"2"}).verdict == "raise"
    assert unfinished_error(plan, {"2"}).data["task_ids"] == ("1",)
    assert unfinished_error(plan).data["task_ids"] == ("1", "2", "3")


def test_a_list_of_open_tasks_names_the_holder_of_what_others_work_on():
    """So that an agent does not take up a task on which another one works."""
    planner = team()
    plan = planner.plan
    claimed = planner.claimed_by_others(plan, actor="ann")
    text = Guidance(TEAM).before_model(plan, (), Memory(), claimed=claimed).text
    assert "#1 [in_progress] Dig\n#2 [in_progress] Lay [held by bob]\n#3 [pending] Fill\n" in text
    gone = {"2", "3"}  # read before the claim ended
    assert (
        "#3 [pending] Fill\n" in Guidance(TEAM).before_model(plan, (), Memory(), claimed=gone).text
    )


def test_a_task_of_others_is_not_stale():
    """Nor in a request of which the provider keeps the rest."""
    plan = team().plan
    guidance = Guidance(TEAM, Settings(stale=1, plan_lost=False))
    memory = Memory(turn=5, revision=plan.revision)
    for ask in (
        lambda claimed: guidance.before_model(plan, (), memory, claimed=claimed),
        lambda claimed: before_partial(guidance, plan, memory, claimed=claimed),
    ):
        assert ask({"1", "2"}).kind == ""
        mine = ask({"2"})
        assert mine.kind == "stale"
        assert "#1" in mine.text
        assert "#2" not in mine.text


def test_a_claim_that_has_run_out_is_nobodys():
    """Its task may be had: so it is within reach again."""
    planner = team()
    plan = planner.plan
    assert claimed_by_others(plan, {"1": 1}, NOON) == {"2"}
    assert claimed_by_others(plan, {"1": 2}, None) == {"1", "2"}
    assert claimed_by_others(plan, {"1": 1}, NOON + timedelta(minutes=2)) == set()
    assert planner.claimed_by_others(plan, fences={"2": 1}) == {"1"}
    assert within_reach(plan, {"9"}) == within_reach(plan)
