"""When to remind, and when a final answer may stand."""

import json
import re
from pathlib import Path
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import texts as wording
from todoplan.core.commands import ApprovePlan, CreateTask, CreateTasks, UpdateTask
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.events.base import Base
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.core.rules import Policy
from todoplan.dialogue.guidance import (
    REMINDERS,
    Guidance,
    Memory,
    Message,
    ReminderKind,
    Settings,
    ToolResult,
    before_partial,
    unfinished_error,
)
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, ToolSet, tasks

REMINDER_TEXTS = Path(wording.__file__).parent / "reminders.txt"

ANSWER = Message("assistant", "Here you are.", finish="stop")
WRITTEN = Message("tool", results=(ToolResult("write_todos"),))
FAILED = Message("tool", results=(ToolResult("write_todos", ok=False),))
ASKED = Message("user", "Do it.")
ALL_ON = Settings(empty=1, stale=2, changed=True, all_done="always")


def made(plan, *commands):
    for command in commands:
        decision = decide(plan, command)
        assert isinstance(decision, Accepted)
        plan = decision.plan
    return plan


def plan_with(*statuses):
    return made(
        Plan(), CreateTasks(tuple(CreateTask(f"t{n}", status=s) for n, s in enumerate(statuses)))
    )


OPEN = plan_with("in_progress", "pending")
DONE = plan_with("completed")
PENDING = plan_with("pending")


def kind_of(settings, plan, messages, memory=None):
    return Guidance(TODOS, settings).before_model(plan, messages, memory or Memory()).kind


@pytest.mark.parametrize(
    ("plan", "messages", "kind"),
    [
        (OPEN, [ASKED, WRITTEN], ""),
        (OPEN, [], "plan_lost"),
        (OPEN, [ASKED, FAILED], "plan_lost"),
        (OPEN, [Message("tool", results=(ToolResult("search"),))], "plan_lost"),
        (OPEN, [Message("user", shows=OPEN.revision)], ""),
        (OPEN, [Message("user", shows=OPEN.revision - 1)], "plan_lost"),
        (DONE, [], ""),
    ],
)
def test_a_plan_out_of_sight_is_brought_back(plan, messages, kind):
    """A successful planning call shows it, and a reminder of this revision; done, it is no work."""
    advice = Guidance(TODOS).before_model(plan, messages, Memory())
    assert (advice.kind, bool(advice.text), advice.verdict) == (kind, bool(kind), "accept")


def test_each_reminder_can_be_switched_off():
    """With everything off nothing is said, whatever the plan."""
    off = Settings(plan_lost=False, unfinished=0)
    assert kind_of(off, OPEN, []) == ""
    assert Guidance(TODOS, off).after_model(OPEN, ANSWER, Memory()).verdict == "accept"


def test_a_change_by_somebody_else_is_told_once():
    """The model hears of a revision that its own calls did not make, and then not again."""
    guidance = Guidance(TODOS, Settings(changed=True))
    memory = guidance.before_model(OPEN, [WRITTEN], Memory()).memory
    changed = made(OPEN, UpdateTask("2", subject="other"))
    advice = guidance.before_model(changed, [WRITTEN], memory)
    assert advice.kind == "changed"
    assert "other" in advice.text
    assert guidance.before_model(changed, [WRITTEN], advice.memory).kind == ""
    # What the adapter has noted as the model's own is not announced.
    assert guidance.before_model(changed, [WRITTEN], memory.saw(changed)).kind == ""


def test_a_thread_that_began_without_a_plan_is_told_of_one():
    """Revision 0 is one that was shown: what others write into the empty plan is a change."""
    guidance = Guidance(TODOS, Settings(changed=True, plan_lost=False))
    memory = guidance.before_model(Plan(), [ASKED], Memory()).memory
    advice = guidance.before_model(OPEN, [ASKED], memory)
    assert (advice.kind, advice.verdict) == ("changed", "accept")
    assert advice.memory.revision == OPEN.revision


def test_what_others_did_before_the_models_own_change_is_told():
    """Only a change to the plan that the model knew makes it known."""
    guidance = Guidance(TODOS, Settings(changed=True))
    memory = guidance.before_model(OPEN, [WRITTEN], Memory()).memory
    others = made(OPEN, UpdateTask("1", subject="theirs"))
    both = made(others, UpdateTask("2", subject="its own"))
    own = made(OPEN, UpdateTask("2", subject="its own"))
    for plan, before, told in ((both, others, "changed"), (own, OPEN, ""), (OPEN, OPEN, "")):
        seen = memory.saw_own(before.revision, plan)
        assert guidance.before_model(plan, [WRITTEN], seen).kind == told


def test_a_call_that_changes_nothing_touches_nothing():
    """A task in progress goes stale however often the plan is read."""
    memory = Memory(turn=7, revision=OPEN.revision, touched=2)
    assert memory.saw_own(OPEN.revision, OPEN) == memory
    changed = made(OPEN, UpdateTask("2", subject="other"))
    assert memory.saw_own(OPEN.revision, changed).touched == 7


def test_a_plan_finished_by_somebody_else_is_told_as_such():
    """A change that leaves nothing open says so and lists nothing."""
    guidance = Guidance(TODOS, Settings(changed=True))
    memory = guidance.before_model(OPEN, [WRITTEN], Memory()).memory
    done = made(OPEN, UpdateTask("1", status="completed"), UpdateTask("2", status="cancelled"))
    assert guidance.before_model(done, [WRITTEN], memory).kind == "changed_done"


def test_an_empty_plan_is_mentioned_as_often_as_allowed():
    """The hint to plan is off by default, and its number is capped."""
    guidance = Guidance(TODOS, Settings(empty=1))
    first = guidance.before_model(Plan(), [ASKED], Memory())
    assert first.kind == "empty"
    assert guidance.before_model(Plan(), [ASKED], first.memory).kind == ""
    anew = first.memory.new_run(Plan())
    assert guidance.before_model(Plan(), [ASKED], anew).kind == "empty"
    assert kind_of(Settings(), Plan(), [ASKED]) == ""


def test_a_task_untouched_for_some_turns_is_mentioned():
    """After N turns without a change the tasks in progress are named, and again N turns later."""
    guidance, memory, said = Guidance(tasks(), Settings(stale=2)), Memory(), []
    seen = [Message("tool", results=(ToolResult("TaskUpdate"),))]
    for _ in range(6):
        advice = guidance.before_model(OPEN, seen, memory)
        memory = advice.memory
        said.append(advice.kind)
    assert said == ["", "", "stale", "", "stale", ""]


def test_a_touched_task_is_not_stale():
    """The model's own planning call starts the count anew; a pending task may wait for ever."""
    guidance, memory = Guidance(TODOS, Settings(stale=2)), Memory()
    for _ in range(5):
        advice = guidance.before_model(OPEN, [WRITTEN], memory)
        assert advice.kind == ""
        memory = advice.memory.saw(OPEN)
    assert kind_of(Settings(stale=1), PENDING, [WRITTEN], Memory(turn=50)) == ""


def answers(guidance, plan, memory, count):
    for _ in range(count):
        advice = guidance.after_model(plan, ANSWER, memory)
        memory = advice.memory
        yield advice.verdict, memory


def test_an_answer_with_open_tasks_is_sent_back_up_to_the_cap():
    """Two further turns by default, each naming the open tasks; then the answer is let go."""
    guidance = Guidance(TODOS)
    verdicts = [verdict for verdict, _ in answers(guidance, OPEN, Memory(), 4)]
    assert verdicts == ["again", "again", "accept", "accept"]
    assert "[in_progress] t0" in guidance.after_model(OPEN, ANSWER, Memory()).text


def test_progress_renews_the_cap_and_standing_still_does_not():
    """The count starts anew only when more tasks are resolved than ever before."""
    guidance = Guidance(TODOS)
    *_, (_, memory) = answers(guidance, OPEN, Memory(), 2)
    further = made(OPEN, UpdateTask("1", status="completed"))
    assert [v for v, _ in answers(guidance, further, memory, 3)] == ["again", "again", "accept"]
    *_, (_, memory) = answers(guidance, further, memory, 3)
    back = made(further, UpdateTask("1", status="pending"))
    again = made(back, UpdateTask("1", status="completed"))
    assert [v for v, _ in answers(guidance, back, memory, 1)] == ["accept"]
    assert [v for v, _ in answers(guidance, again, memory, 1)] == ["accept"]


def test_an_ignored_reminder_can_raise():
    """
    With on_ignored="raise" the end of the cap is for the caller to raise; without a cap never.
    """
    strict = Guidance(TODOS, Settings(on_ignored="raise", unfinished=1))
    assert [v for v, _ in answers(strict, OPEN, Memory(), 2)] == ["again", "raise"]
    off = Guidance(TODOS, Settings(on_ignored="raise", unfinished=0))
    assert [v for v, _ in answers(off, OPEN, Memory(), 1)] == ["accept"]


QUESTION = Message("assistant", "Which of the two do you want?")
REFUSAL = Message("assistant", finish="content_filter")
CALLING = Message("assistant", calls=("x",))
INVALID = Message("assistant", invalid_calls=1)


@pytest.mark.parametrize("plan", [OPEN, DONE])
@pytest.mark.parametrize("message", [QUESTION, REFUSAL, CALLING, INVALID, ASKED])
def test_only_a_final_answer_is_judged(plan, message):
    """Calls go on by themselves, a refusal says no more; a question costs no further turn."""
    for memory in (Memory(), Memory(asked=1)):
        advice = Guidance(TODOS, ALL_ON).after_model(plan, message, memory)
        assert (advice.verdict, advice.memory) == ("accept", memory)
    # With a response format, the answer belongs to the framework.
    assert Guidance(TODOS).after_model(plan, ANSWER, Memory(), structured=True).verdict == "accept"


def test_an_answer_is_let_through_while_the_plan_waits_for_its_approval():
    """Nothing may be started: there is nothing to go on with. Approved, the rule is as ever."""
    plan = plan_with("pending", "pending")
    approved = decide(plan, ApprovePlan("ann")).plan
    answer = Message("assistant", "Here is the plan.")
    for severity, waits in (("error", True), ("warn", False), ("off", False)):
        policy = Policy().but(approval_required=severity)
        guidance = Guidance(TODOS, Settings(unfinished=2), policy)
        for each, verdict in ((plan, "accept" if waits else "again"), (approved, "again")):
            assert guidance.after_model(each, answer, Memory()).verdict == verdict


def test_a_silent_end_is_asked_about_once():
    """All done and no text: the answer itself is asked for, once for this plan."""
    guidance = Guidance(TODOS, Settings(all_done="if_silent"))
    silent = Message("assistant", " ")
    advice = guidance.after_model(DONE, silent, Memory())
    assert (advice.verdict, advice.kind) == ("again", "all_done")
    assert guidance.after_model(DONE, silent, advice.memory).verdict == "accept"
    assert guidance.after_model(DONE, ANSWER, Memory()).verdict == "accept"


def test_one_confirmation_can_always_be_asked():
    """With all_done="always" even a spoken answer is confirmed once; an empty plan never is."""
    guidance = Guidance(TODOS, Settings(all_done="always"))
    assert [v for v, _ in answers(guidance, DONE, Memory(), 2)] == ["again", "accept"]
    assert [v for v, _ in answers(guidance, Plan(), Memory(), 1)] == ["accept"]
    assert Guidance(TODOS).after_model(DONE, ANSWER, Memory()).verdict == "accept"


def test_an_answer_stands_where_only_its_completeness_was_asked_for():
    """What was said before the confirmation is kept, unless there was nothing, or work is open."""
    guidance = Guidance(TODOS, Settings(all_done="always"))
    silent = Message("assistant", " ")
    assert guidance.after_model(DONE, ANSWER, Memory()).keeps(ANSWER)
    assert not guidance.after_model(DONE, silent, Memory()).keeps(silent)
    assert not guidance.after_model(OPEN, ANSWER, Memory()).keeps(ANSWER)


def test_a_new_run_has_its_caps_anew():
    """Caps belong to one request of the user, not to the plan or the thread."""
    guidance = Guidance(TODOS)
    *_, (verdict, memory) = answers(guidance, OPEN, Memory(), 3)
    assert verdict == "accept"
    assert [v for v, _ in answers(guidance, OPEN, memory.new_run(OPEN), 1)] == ["again"]


@given(st.builds(Memory, turn=st.integers(), asked=st.integers(), confirmed=st.integers()))
def test_a_memory_survives_as_plain_json(memory):
    """
    Any state that holds JSON can hold it; what another version wrote beside it is passed over.
    """
    data = json.loads(json.dumps(memory.to_data()))
    assert Memory.of(data) == Memory.of({**data, "later": 1}) == memory
    assert Memory.of(None) == Memory()


plans = st.lists(st.sampled_from(list(Status)), max_size=4).map(lambda found: plan_with(*found))
messages = st.lists(st.sampled_from([ASKED, WRITTEN, FAILED, ANSWER]), max_size=3)
memories = st.builds(
    Memory,
    turn=st.integers(0, 9),
    revision=st.integers(-1, 9),
    asked=st.integers(0, 3),
    resolved=st.integers(0, 3),
    empties=st.integers(0, 2),
    confirmed=st.integers(-1, 9),
)


@given(plans, messages, memories)
def test_the_same_inputs_give_the_same_decision(plan, said, memory):
    """Guidance holds no state: asked twice, it answers alike."""
    guidance = Guidance(TODOS, ALL_ON)
    one, two = (guidance.before_model(plan, said, memory) for _ in range(2))
    assert one == two
    assert guidance.after_model(plan, ANSWER, memory) == guidance.after_model(plan, ANSWER, memory)


@given(st.lists(plans, min_size=1, max_size=30), memories)
def test_every_cap_is_finite(plan_by_turn, memory):
    """Whatever the plans do, answers are sent back at most as often as caps and progress allow."""
    guidance, sent_back = Guidance(TODOS, ALL_ON), 0
    for plan in plan_by_turn:
        advice = guidance.after_model(plan, ANSWER, memory)
        memory = advice.memory
        sent_back += advice.verdict == "again" and advice.kind == "unfinished"
    most_closed = max(plan.counts.closed for plan in plan_by_turn)
    assert sent_back <= ALL_ON.unfinished * (most_closed + 1)


def kinds_unseen(plan, memory, guidance=None, turns=1):
    """Return the kinds of reminders of so many turns, and the memory behind them."""
    kinds = []
    for _ in range(turns):
        advice = before_partial(guidance or Guidance(TODOS), plan, memory)
        kinds.append(advice.kind)
        memory = advice.memory
    return kinds, memory


def test_a_plan_that_cannot_be_seen_is_shown_every_twenty_turns():
    """Counted from the last change or reminder; an empty plan, or one switched off, is not."""
    kinds, _ = kinds_unseen(PENDING, Memory(), turns=41)
    assert [turn for turn, kind in enumerate(kinds) if kind == "plan_lost"] == [0, 20, 40]
    assert not any(kinds[1:20])
    _, memory = kinds_unseen(PENDING, Memory(), turns=15)
    assert not any(kinds_unseen(PENDING, memory.saw(PENDING), turns=19)[0])
    assert not any(kinds_unseen(Plan(), Memory(), turns=30)[0])
    off = Guidance(TODOS, Settings(plan_lost=False))
    assert not any(kinds_unseen(PENDING, Memory(), off, turns=30)[0])
    changed = Guidance(TODOS, Settings(changed=True))
    assert kinds_unseen(PENDING, Memory(turn=1, revision=7), changed)[0] == ["changed"]


PARTS = {"held", "others", "leave"}
"""The texts that are put into those of reminders."""

SECTIONS = re.findall(r"^== (.+) ==$", REMINDER_TEXTS.read_text("utf-8"), re.MULTILINE)


def test_every_reminder_has_a_row_a_text_and_a_switch():
    """A reminder that lacks one of them is named here; so is a setting that switches nothing."""
    assert set(REMINDERS) == set(get_args(ReminderKind))
    assert set(SECTIONS) - {"frame", "item", "item_plain", *PARTS} == set(REMINDERS)
    switches = {field.name for field in attrs.fields(Settings)} - {"on_ignored"}
    assert {row.switch for row in REMINDERS.values()} == switches


def test_of_several_reminders_the_first_is_given():
    """One request bears one reminder, in the order of the table."""
    memory = Memory(turn=9, revision=OPEN.revision + 1)
    assert kind_of(ALL_ON, OPEN, [], memory) == "plan_lost"
    assert kind_of(ALL_ON, OPEN, [WRITTEN], memory) == "changed"
    assert kind_of(ALL_ON, OPEN, [WRITTEN], Memory(turn=9, revision=OPEN.revision)) == "stale"


@given(
    st.lists(st.sampled_from(Status), min_size=1, max_size=4).map(lambda found: plan_with(*found)),
    st.lists(
        st.sampled_from(["completed", "cancelled", "failed", "ask", "wait"]), min_size=4, max_size=4
    ),
)
def test_who_obeys_a_reminder_is_not_reminded_again(plan, choices):
    """
    Tasks finished, cancelled, failed or made to wait, or a question: what the reminder advises, the
    rule accepts.
    """
    guidance = Guidance(TODOS)
    advice = guidance.after_model(plan, ANSWER, Memory())
    if advice.verdict == "accept":
        return
    answer = ANSWER
    for task, choice in zip(plan, choices, strict=False):
        if choice == "ask":
            answer = QUESTION
        elif task.status.closed:
            continue
        elif choice == "wait":
            plan = made(plan, UpdateTask(task.id, waiting=Waiting("ann")))
        else:
            plan = made(plan, UpdateTask(task.id, status=choice))
    if answer is ANSWER:
        assert all(task.waiting for task in open_tasks(plan))
    assert guidance.after_model(plan, answer, advice.memory).verdict == "accept"


def test_settings_show_what_was_changed():
    """Their repr is how they are written."""
    assert repr(Settings()) == "Settings()"
    assert repr(Settings(unfinished=0, on_ignored="raise")) == (
        "Settings(unfinished=0, on_ignored='raise')"
    )


def test_a_change_by_others_is_said_with_their_names():
    """The reminder that shows the plan says what became of which task; then it has been seen."""
    plan = decide(Plan(), CreateTask("Draft")).unwrap()
    decision = decide(plan, CreateTask("Tell <b>Ann</b>"))
    base, now = Base(plan).after(decision.events, "ann"), decision.unwrap()
    seen = Memory().saw(plan)
    shown = [Message("tool", results=(ToolResult("plan"),))]
    for messages, kind in ((shown, "changed"), ([], "plan_lost")):
        advice = Guidance(LEAN).before_model(now, messages, seen, base=base)
        assert advice.kind == kind
        assert advice.shows_plan
        assert (
            "(since you last looked: #2 Tell &lt;b&gt;Ann&lt;/b&gt; created by ann)" in advice.text
        )
        assert not Guidance(LEAN).before_model(now, shown, advice.memory).text
    assert not Guidance(LEAN).before_model(plan, shown, seen).shows_plan
    assert "since you" not in Guidance(LEAN).before_model(now, shown, seen).text


WAITING = plan_of(
    [
        Task("1", "Ask ann", waiting=Waiting("ann"), blocks=("2",)),
        Task("2", "Go on", blocked_by=("1",)),
        Task("3", "Parent", status="in_progress"),
        Task("4", "Ask bob", parent="3", waiting=Waiting(question="Which?")),
        Task("5", "Done", status="completed", parent="3"),
    ]
)


def test_nobody_is_nagged_about_what_waits():
    """A plan of which all that is open waits, or comes after what does, is let through at once."""
    for settings in (ALL_ON, Settings(on_ignored="raise")):
        guidance = Guidance(LEAN, settings)
        advice = guidance.after_model(WAITING, ANSWER, Memory(asked=9))
        assert (advice.verdict, advice.text) == ("accept", "")
    late = Memory(turn=9, revision=WAITING.revision)
    assert kind_of(ALL_ON, WAITING, [WRITTEN], late) == ""
    assert kind_of(Settings(), WAITING, []) == "plan_lost"


def test_only_what_does_not_wait_is_named():
    """Beside tasks that wait, those that the model can go on with; what failed can be given up."""
    more = made(WAITING, CreateTask("Next"), CreateTask("Vain", blocked_by=("6",)))
    failed = made(more, UpdateTask("6", status="failed"))
    for plan, named in ((more, ["Next", "Vain"]), (failed, ["Vain"])):
        text = Guidance(LEAN).after_model(plan, ANSWER, Memory()).text
        assert re.findall(r"\] (\w+)$", text, re.MULTILINE) == named
    assert unfinished_error(failed).data == {"task_ids": ("7",)}


def test_a_lost_plan_is_shown_with_what_waits():
    """Escaped as all of it is."""
    plan = made(PENDING, UpdateTask("1", waiting=Waiting("<ann>")))
    text = Guidance(LEAN).before_model(plan, [], Memory()).text
    assert "#1 [pending] t0 [waiting: &lt;ann&gt;]" in text


ENDS = {"todos": "set its status to waiting", "tasks": "say what it is in ", "lean": "send wait"}


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=repr)
def test_who_makes_tasks_wait_as_the_reminder_says_is_not_reminded_again(toolset):
    """Each tool set has its own way, said in the reminder with its own names."""
    box = Toolbox(toolset)
    text = Guidance(toolset).after_model(OPEN, ANSWER, Memory()).text
    assert ENDS[toolset.name] in text
    ways = {
        "todos": (
            "write_todos",
            {"todos": [{"content": t.subject, "status": "waiting"} for t in OPEN]},
        ),
        "lean": ("plan", {"wait": {"1": "ann", "2": "bob"}}),
    }
    plan = OPEN
    if toolset.name == "tasks":
        (key,) = re.findall(r"say what it is in (\w+)", text)
        for task in OPEN:
            plan = box.call(plan, "TaskUpdate", {"taskId": task.id, key: "ann"}).plan
    else:
        plan = box.call(plan, *ways[toolset.name]).plan
    assert [task.id for task in plan.waiting()] == ["1", "2"]
    assert Guidance(toolset).after_model(plan, ANSWER, Memory()).verdict == "accept"


def test_a_tool_set_of_ones_own_need_not_say_how_to_wait():
    """Without a text of that name the reminder is as it was."""
    own = ToolSet("mine", TODOS.tools, "write_todos")
    assert "and then answer. If you need" in Guidance(own).after_model(OPEN, ANSWER, Memory()).text


def test_closing_a_task_in_whatever_way_is_headway():
    """Who says that a task failed has gone on with the plan, and is asked anew about the rest."""
    guidance = Guidance(LEAN)
    for status in ("completed", "cancelled", "failed"):
        plan = plan_with(status, "pending")
        advice = guidance.after_model(plan, ANSWER, Memory(asked=2))
        assert (advice.verdict, advice.memory.asked, advice.memory.resolved) == ("again", 1, 1)
        assert guidance.after_model(plan, ANSWER, Memory(asked=2, resolved=1)).verdict == "accept"


def test_an_approval_is_told():
    """It changes no task, but a model that must not start before would wait for ever."""
    decision = decide(OPEN, ApprovePlan("ann"))
    approved, base = decision.unwrap(), Base(OPEN).after(decision.events, "ann")
    guidance, memory = Guidance(LEAN), Memory().saw(OPEN)
    shown = [Message("tool", results=(ToolResult("plan"),))]
    advice = guidance.before_model(approved, shown, memory, base=base)
    assert advice.kind == "changed"
    assert "plan approved by ann" in advice.text
    assert guidance.before_model(approved, shown, advice.memory).kind == ""
    changed = made(approved, UpdateTask("2", subject="other"))
    assert guidance.before_model(changed, shown, memory, base=base).kind == "changed"


def test_changes_that_were_taken_back_are_no_news():
    """The memory goes on from the plan as it is, so that no reminder repeats it."""
    plan = decide(Plan(), CreateTask("Dig")).plan
    memory = Memory(revision=plan.revision - 1).next_turn(plan, Base(plan))
    assert memory.revision == plan.revision
