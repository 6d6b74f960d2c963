"""What others did, as the first answer after it says."""

from datetime import UTC, datetime, timedelta

from support.hostile import CORPUS, UNSAFE

from todoplan import LEAN, TASKS, TODOS, Task, Toolbox, decide, plan_of
from todoplan.core import commands
from todoplan.core.events.base import Base
from todoplan.core.plan.model import Waiting
from todoplan.dialogue import Call
from todoplan.dialogue.replies import unseen_text

PLAN = plan_of([Task("1", "Draft"), Task("2", "Review"), Task("3", "Send")])


def changed(*done, base=None):
    """Return a plan after commands of others, each with its actor, and the base that knows them."""
    plan, base = PLAN, base or Base(PLAN)
    for command, actor in done:
        decision = decide(plan, command)
        plan, base = decision.unwrap(), base.after(decision.events, actor)
    return plan, base


def test_an_approval_is_told():
    """A model that has to wait for it would never know; given back, there is nothing to tell."""
    plan, base = changed((commands.ApprovePlan("ann"), "ann"))
    assert base.has_news(plan)
    assert unseen_text(base, plan) == "since you last looked: plan approved by ann"
    assert not Base(plan).has_news(plan)
    plan, base = changed((commands.ApprovePlan(), None), (commands.CreateTask("Tell"), "ann"))
    text = "since you last looked: plan approved, #4 Tell created by ann"
    assert unseen_text(base, plan) == text
    assert not base.has_news(PLAN)


def test_a_claim_is_told_and_a_heartbeat_is_not():
    """Who works on it now, and whose it was; that a claim goes on is nothing to tell of."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    at = [began + n * timedelta(minutes=1) for n in range(9)]
    claim = decide(PLAN, commands.ClaimTask("bob", lease=90), at=at[0])
    base = Base(PLAN).after(claim.events, "bob")
    claimed = claim.unwrap()
    assert unseen_text(base, claimed) == "since you last looked: #1 Draft claimed by bob"
    renewed = decide(claimed, commands.RenewClaim("1", 1, 90), at=at[1]).unwrap()
    assert renewed != claimed
    assert not Base(claimed).unseen(renewed)
    assert unseen_text(Base(claimed), renewed) == ""
    edited = decide(renewed, commands.UpdateTask("1", owner="bob"), at=at[1]).unwrap()
    assert unseen_text(Base(claimed), edited) == "since you last looked: #1 Draft updated"
    taken = decide(renewed, commands.ClaimTask("ann"), at=at[4])
    text = unseen_text(Base(renewed).after(taken.events, "ann"), taken.unwrap())
    assert text == "since you last looked: #1 Draft claimed by ann from bob"
    hostile = decide(PLAN, commands.ClaimTask("a\n<b>" + "x" * 90)).unwrap()
    assert unseen_text(Base(PLAN), hostile).endswith(f"claimed by a <b>{'x' * 32}...")


def test_an_answer_is_told_with_its_question():
    """Once, by whom, and apart from what else was done; the model has waited for it."""
    asks = commands.UpdateTask("3", waiting=Waiting("ann", question="Which database?"))
    asking = decide(PLAN, asks).unwrap()
    decision = decide(asking, commands.AnswerTask("3", "PostgreSQL"))
    plan, base = decision.unwrap(), Base(asking).after(decision.events, "ann")
    text = "answered: #3 Which database? -> PostgreSQL, by ann"
    assert unseen_text(base, plan) == text
    assert unseen_text(Base(asking), plan) == text.removesuffix(", by ann")
    reply = Toolbox(TASKS).call(plan, "TaskUpdate", {"taskId": 1, "status": "done"}, base=base)
    assert reply.text.splitlines()[0] == text
    turn = Toolbox(LEAN).turn(plan, [Call("plan", {"done": [1]}), Call("plan", {})], base=base)
    assert ["answered" in each.text for each in turn.replies] == [True, False]
    more = decide(plan, commands.UpdateTask("3", status="in_progress", owner="bob"))
    both = unseen_text(base.after(more.events, "bob"), more.unwrap())
    assert both == (
        "since you last looked: #3 Send started by bob; answered: #3 Which database? -> PostgreSQL"
    )


def test_who_answered_is_told_although_the_task_has_a_new_time():
    """The time of the change is no change of its own."""
    at = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (1, 2)]
    asks = commands.UpdateTask("3", waiting=Waiting("ann", question="Which?"))
    asking = decide(PLAN, asks, at=at[0]).unwrap()
    decision = decide(asking, commands.AnswerTask("3", "This"), at=at[1])
    base = Base(asking).after(decision.events, "ann")
    assert unseen_text(base, decision.unwrap()) == "answered: #3 Which? -> This, by ann"


def test_an_answer_to_a_task_that_asked_nothing_in_words():
    """What it waited for stands for the question, or else what it is called."""
    for waits, question in ((Waiting("the key"), "the key"), (Waiting(), "Send")):
        asking = decide(PLAN, commands.UpdateTask("3", waiting=waits)).unwrap()
        plan = decide(asking, commands.AnswerTask("3", "here")).unwrap()
        assert unseen_text(Base(asking), plan) == f"answered: #3 {question} -> here"
    new = plan_of([*PLAN, Task("4", "New", answer="yes")])
    assert unseen_text(Base(PLAN), new) == (
        "since you last looked: #4 New created; answered: #4 New -> yes"
    )


def test_answers_are_bounded_and_act_on_nobody():
    """Five of them, cut, on one line each, without what hides or obeys."""
    tasks = [Task(str(n), "a", waiting=Waiting(question="q" * 9_000)) for n in range(1, 9)]
    asking = plan = plan_of(tasks)
    for text, task in zip([*CORPUS, *["long " * 2_000] * 9][-8:], asking, strict=True):
        plan = decide(plan, commands.AnswerTask(task.id, f"a{text}")).unwrap()
    text = unseen_text(Base(asking), plan)
    assert not UNSAFE.search(text)
    assert text.endswith("and 3 more")
    assert len(text) < 6_500


def test_a_wait_that_was_written_over_is_named_by_its_reason():
    """In words, as every value: never a repr."""
    checked = commands.RecordEvidence("2", passed=True, summary="40 passed")
    plan, base = changed(
        (commands.UpdateTask("1", waiting=Waiting("the key")), "bob"), (checked, "ci")
    )
    todos = [
        {"content": "Draft", "status": "in_progress"},
        {"content": "Review", "status": "in_progress"},
        {"content": "Send"},
    ]
    reply = Toolbox(TODOS).call(plan, "write_todos", {"todos": todos}, base=base)
    assert 'replaced the waiting of #1, "the key" by bob' in reply.text
    assert 'the evidence of #2, "40 passed" by ci' in reply.text


def test_it_stays_short():
    """Five tasks by name; long titles and names are cut."""
    plan, base = changed(*[(commands.CreateTask("a" * 400), "b" * 400) for _ in range(9)])
    text = unseen_text(base, plan)
    assert text.endswith("and 4 more")
    assert len(text) < 800


def test_nothing_in_it_acts_on_a_reader():
    """What a task or an actor is called is shown as one line, without what hides or obeys."""
    for text in (text[:400] for text in CORPUS):
        plan, base = changed((commands.CreateTask(f"a{text}b"), f"c{text}d"))
        assert not UNSAFE.search(unseen_text(base, plan))


def test_the_calls_of_a_turn_share_the_base():
    """All were written before an answer was read: none removes what others did, one tells of it."""
    plan, base = changed((commands.CreateTask("Tell Ann"), "ann"))
    names = {"write": "write_todos", "read": "read_todos"}
    todos = [{"content": "Draft", "status": "completed"}, {"content": "New"}]
    calls = [Call(names["read"], {}), Call("nothing", {}), Call(names["write"], {"todos": todos})]
    turn = Toolbox(TODOS).turn(plan, calls, base=base)
    assert [task.subject for task in turn.plan] == ["Draft", "New", "Tell Ann"]
    told = ["since you last looked" in reply.text for reply in turn.replies]
    assert told == [True, False, False]
    granular = [Call("plan", {"add": ["More"]}), Call("plan", {"done": [5]})]
    turn = Toolbox(LEAN).turn(plan, granular, base=base)
    assert [reply.text.count("since you") for reply in turn.replies] == [1, 0]
