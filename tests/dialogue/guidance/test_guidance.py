"""When to remind, and when a final answer may stand."""

import json
import re
from pathlib import Path
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import published
from support.talk import planned

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
from todoplan.dialogue.tools import LEAN, TODOS, TOOLSETS, ToolSet, tasks
from todoplan.testing.adapters.host import SAMPLES

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
OTHER = made(OPEN, UpdateTask("2", subject="other"))
WAITING = plan_of(
    [
        Task("1", "Ask ann", waiting=Waiting("<ann>"), blocks=("2",)),
        Task("2", "Go on", blocked_by=("1",)),
        Task("3", "Parent", status="in_progress"),
        Task("4", "Ask bob", parent="3", waiting=Waiting(question="Which?")),
        Task("5", "Done", status="completed", parent="3"),
    ]
)
QUESTION = Message("assistant", "Which of the two do you want?")
SILENT = Message("assistant", " ")


def known(plan, **more):
    """Return the memory of a model that was last shown this plan."""
    return Memory(revision=plan.revision, **more)


ON = Settings()
LATE = known(OPEN, turn=9)
BOTH_DONE = made(OPEN, UpdateTask("1", "completed"), UpdateTask("2", status="cancelled"))


@pytest.mark.parametrize(
    ("settings", "plan", "messages", "memory", "kind"),
    [
        # A successful planning call shows the plan, and so does a reminder of this revision.
        (ON, OPEN, [ASKED, WRITTEN], Memory(), ""),
        (ON, OPEN, [], Memory(), "plan_lost"),
        (ON, OPEN, [ASKED, FAILED], Memory(), "plan_lost"),
        (ON, OPEN, [Message("tool", results=(ToolResult("search"),))], Memory(), "plan_lost"),
        (ON, OPEN, [Message("user", shows=OPEN.revision)], Memory(), ""),
        (ON, OPEN, [Message("user", shows=OPEN.revision - 1)], Memory(), "plan_lost"),
        (ON, DONE, [], Memory(), ""),
        (ON, WAITING, [], Memory(), "plan_lost"),
        (Settings(plan_lost=False, unfinished=0), OPEN, [], Memory(), ""),
        # What others did is told, also of a plan that was empty when it was last shown; and what
        # they did before a change of the model's own.
        (ON, OTHER, [WRITTEN], known(OPEN), "changed"),
        (ON, OTHER, [WRITTEN], known(OTHER), ""),
        (ON, OTHER, [WRITTEN], known(OPEN).saw(OTHER), ""),
        (ON, OTHER, [WRITTEN], known(OPEN).saw_own(OPEN.revision, OTHER), ""),
        (ON, OTHER, [WRITTEN], known(OPEN).saw_own(OPEN.revision + 9, OTHER), "changed"),
        (Settings(changed=False), OTHER, [WRITTEN], known(OPEN), ""),
        (Settings(plan_lost=False), OPEN, [ASKED], known(Plan()), "changed"),
        (ON, BOTH_DONE, [WRITTEN], known(OPEN), "changed_done"),
        # The hint to plan is off unless asked for, and its number is capped for each run.
        (ON, Plan(), [ASKED], Memory(), ""),
        (Settings(empty=1), Plan(), [ASKED], Memory(), "empty"),
        (Settings(empty=1), Plan(), [ASKED], known(Plan(), empties=1), ""),
        (Settings(empty=1), Plan(), [ASKED], known(Plan(), empties=1).new_run(Plan()), "empty"),
        # A task in progress goes stale, a pending or a waiting one does not.
        (Settings(stale=2), OPEN, [WRITTEN], LATE, "stale"),
        (Settings(stale=2), OPEN, [WRITTEN], LATE.saw(OPEN), ""),
        (Settings(stale=1), PENDING, [WRITTEN], known(PENDING, turn=50), ""),
        (ALL_ON, WAITING, [WRITTEN], known(WAITING, turn=9), ""),
        # Of several reminders, the first of the table is given.
        (ALL_ON, OTHER, [], LATE, "plan_lost"),
        (ALL_ON, OTHER, [WRITTEN], LATE, "changed"),
        (ALL_ON, OPEN, [WRITTEN], LATE, "stale"),
    ],
)
def test_a_request_bears_the_reminder_that_is_due(settings, plan, messages, memory, kind):
    """It has at most one, and none that is switched off; the next request does not repeat it."""
    guidance = Guidance(TODOS, settings)
    advice = guidance.before_model(plan, messages, memory)
    assert (advice.kind, bool(advice.text), advice.verdict) == (kind, bool(kind), "accept")
    if kind not in {"", "plan_lost"}:
        assert guidance.before_model(plan, messages, advice.memory).kind != kind


@pytest.mark.parametrize(
    ("settings", "plan", "answer", "memory", "verdict"),
    [
        (ON, OPEN, ANSWER, Memory(), "again"),
        (ON, OPEN, ANSWER, Memory(asked=2), "accept"),
        (ON, OPEN, ANSWER, Memory(asked=2).new_run(OPEN), "again"),
        (Settings(unfinished=0), OPEN, ANSWER, Memory(), "accept"),
        (Settings(on_ignored="raise", unfinished=1), OPEN, ANSWER, Memory(), "again"),
        (Settings(on_ignored="raise", unfinished=1), OPEN, ANSWER, Memory(asked=1), "raise"),
        (Settings(on_ignored="raise", unfinished=0), OPEN, ANSWER, Memory(), "accept"),
        # A plan of which all that is open waits, or comes after what does, is let through at once.
        (ALL_ON, WAITING, ANSWER, Memory(asked=9), "accept"),
        (Settings(on_ignored="raise"), WAITING, ANSWER, Memory(asked=9), "accept"),
        # Closing a task in whatever way is headway.
        *((ON, plan_with(status, "pending"), ANSWER, Memory(asked=2, resolved=resolved), verdict)
          for status in ("completed", "cancelled", "failed")
          for resolved, verdict in ((0, "again"), (1, "accept"))),
        # All done: a silent end is asked about once for this plan, a spoken one if that is wanted.
        (ON, DONE, SILENT, Memory(), "accept"),
        (Settings(all_done="if_silent"), DONE, SILENT, Memory(), "again"),
        (Settings(all_done="if_silent"), DONE, SILENT, Memory(confirmed=DONE.revision), "accept"),
        (Settings(all_done="if_silent"), DONE, ANSWER, Memory(), "accept"),
        (Settings(all_done="always"), DONE, ANSWER, Memory(), "again"),
        (Settings(all_done="always"), DONE, ANSWER, Memory(confirmed=DONE.revision), "accept"),
        (Settings(all_done="always"), Plan(), ANSWER, Memory(), "accept"),
    ],
)  # fmt: skip
def test_a_final_answer_is_judged_by_what_is_open(settings, plan, answer, memory, verdict):
    """The text before a mere confirmation is kept, if there is one."""
    advice = Guidance(TODOS, settings).after_model(plan, answer, memory)
    assert (advice.verdict, bool(advice.text)) == (verdict, verdict == "again")
    assert advice.keeps(answer) is (verdict == "again" and plan is DONE and answer is ANSWER)


def test_what_the_model_knows_of_the_plan():
    """Its own change sets the turn, an empty call does not; a base without news, the revision."""
    memory = Memory(turn=7, revision=OPEN.revision, touched=2)
    assert memory.saw_own(OPEN.revision, OPEN) == memory
    assert memory.saw_own(OPEN.revision, OTHER).touched == 7
    taken_back = Memory(revision=OPEN.revision - 1).next_turn(OPEN, Base(OPEN))
    assert taken_back.revision == OPEN.revision


def test_a_change_by_somebody_else_is_named():
    """The reminder has the tasks as they are now; titles and reasons for waiting are escaped."""
    advice = Guidance(TODOS).before_model(OTHER, [WRITTEN], known(OPEN))
    assert "other" in advice.text
    text = Guidance(LEAN).before_model(WAITING, [], Memory()).text
    assert "#1 [pending] Ask ann [waiting: &lt;ann&gt;]" in text


def test_a_task_untouched_for_some_turns_is_mentioned():
    """After N turns without a change the tasks in progress are named, and again N turns later."""
    guidance, memory, said = Guidance(tasks(), Settings(stale=2)), Memory(), []
    seen = [Message("tool", results=(ToolResult("TaskUpdate"),))]
    for _ in range(6):
        advice = guidance.before_model(OPEN, seen, memory)
        memory = advice.memory
        said.append(advice.kind)
    assert said == ["", "", "stale", "", "stale", ""]


def answers(guidance, plan, memory, count):
    for _ in range(count):
        advice = guidance.after_model(plan, ANSWER, memory)
        memory = advice.memory
        yield advice.verdict, memory


def test_an_answer_with_open_tasks_is_sent_back_up_to_the_cap():
    """By default twice, with the open tasks; the third answer is accepted."""
    guidance = Guidance(TODOS)
    verdicts = [verdict for verdict, _ in answers(guidance, OPEN, Memory(), 4)]
    assert verdicts == ["again", "again", "accept", "accept"]
    assert "[in_progress] t0" in guidance.after_model(OPEN, ANSWER, Memory()).text


def test_progress_renews_the_cap_and_standing_still_does_not():
    """The count starts again only when more tasks are resolved than ever before."""
    guidance = Guidance(TODOS)
    *_, (_, memory) = answers(guidance, OPEN, Memory(), 2)
    further = made(OPEN, UpdateTask("1", status="completed"))
    assert [v for v, _ in answers(guidance, further, memory, 3)] == ["again", "again", "accept"]
    *_, (_, memory) = answers(guidance, further, memory, 3)
    back = made(further, UpdateTask("1", status="pending"))
    again = made(back, UpdateTask("1", status="completed"))
    assert [v for v, _ in answers(guidance, back, memory, 1)] == ["accept"]
    assert [v for v, _ in answers(guidance, again, memory, 1)] == ["accept"]


REFUSAL = Message("assistant", finish="content_filter")
CALLING = Message("assistant", calls=("x",))
INVALID = Message("assistant", invalid_calls=1)


@pytest.mark.parametrize("plan", [OPEN, DONE])
@pytest.mark.parametrize("message", [QUESTION, REFUSAL, CALLING, INVALID, ASKED])
def test_only_a_final_answer_is_judged(plan, message):
    """Calls, a refusal, a question and a user's message are no final answer."""
    for memory in (Memory(), Memory(asked=1)):
        advice = Guidance(TODOS, ALL_ON).after_model(plan, message, memory)
        assert (advice.verdict, advice.memory) == ("accept", memory)
    # With a response format, the answer belongs to the framework.
    assert Guidance(TODOS).after_model(plan, ANSWER, Memory(), structured=True).verdict == "accept"


def test_an_answer_is_let_through_while_the_plan_waits_for_its_approval():
    """Before the approval no task may start; after it, the answer is sent back as usual."""
    plan = plan_with("pending", "pending")
    approved = decide(plan, ApprovePlan("ann")).plan
    answer = Message("assistant", "Here is the plan.")
    for severity, waits in (("error", True), ("warn", False), ("off", False)):
        policy = Policy().but(approval_required=severity)
        guidance = Guidance(TODOS, Settings(unfinished=2), policy)
        for each, verdict in ((plan, "accept" if waits else "again"), (approved, "again")):
            assert guidance.after_model(each, answer, Memory()).verdict == verdict


@given(st.builds(Memory, turn=st.integers(), asked=st.integers(), confirmed=st.integers()))
def test_a_memory_survives_as_plain_json(memory):
    """A memory is plain JSON; unknown keys, from another version, are ignored."""
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
    """Guidance has no state: the second decision equals the first."""
    guidance = Guidance(TODOS, ALL_ON)
    one, two = (guidance.before_model(plan, said, memory) for _ in range(2))
    assert one == two
    assert guidance.after_model(plan, ANSWER, memory) == guidance.after_model(plan, ANSWER, memory)


@given(st.lists(plans, min_size=1, max_size=30), memories)
def test_every_cap_is_finite(plan_by_turn, memory):
    """Answers are sent back at most as often as the caps and the progress allow."""
    guidance, sent_back = Guidance(TODOS, ALL_ON), 0
    for plan in plan_by_turn:
        advice = guidance.after_model(plan, ANSWER, memory)
        memory = advice.memory
        sent_back += advice.verdict == "again" and advice.kind == "unfinished"
    most_closed = max(plan.counts.closed for plan in plan_by_turn)
    assert sent_back <= ALL_ON.unfinished * (most_closed + 1)


def kinds_unseen(plan, memory, guidance=None, turns=1):
    """Return the kinds of the reminders in a number of turns, and the memory after them."""
    kinds = []
    for _ in range(turns):
        advice = before_partial(guidance or Guidance(TODOS), plan, memory)
        kinds.append(advice.kind)
        memory = advice.memory
    return kinds, memory


def test_a_plan_that_cannot_be_seen_is_shown_every_twenty_turns():
    """The turns count from the last change or reminder; an empty plan is never shown."""
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
    """No reminder lacks one of them, and every setting switches a reminder."""
    assert set(REMINDERS) == set(get_args(ReminderKind))
    assert set(SECTIONS) - {"frame", "item", "item_plain", *PARTS} == set(REMINDERS)
    switches = {field.name for field in attrs.fields(Settings)} - {"on_ignored"}
    assert {row.switch for row in REMINDERS.values()} == switches


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
    """The repr of settings is the expression that makes them."""
    assert repr(Settings()) == "Settings()"
    assert repr(Settings(unfinished=0, on_ignored="raise")) == (
        "Settings(unfinished=0, on_ignored='raise')"
    )


def test_a_change_by_others_is_said_with_their_names():
    """A reminder that shows the plan names each change once."""
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


def test_only_what_does_not_wait_is_named():
    """The reminder names the open tasks that the model can work on or give up."""
    more = made(WAITING, CreateTask("Next"), CreateTask("Vain", blocked_by=("6",)))
    failed = made(more, UpdateTask("6", status="failed"))
    for plan, named in ((more, ["Next", "Vain"]), (failed, ["Vain"])):
        text = Guidance(LEAN).after_model(plan, ANSWER, Memory()).text
        assert re.findall(r"\] (\w+)$", text, re.MULTILINE) == named
    assert unfinished_error(failed).data == {"task_ids": ("7",)}


@pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)
def test_who_makes_tasks_wait_as_the_reminder_says_is_not_reminded_again(toolset):
    """The reminder says how to make a task wait with the tools of the set, and that works."""
    box, plan = Toolbox(toolset), planned("Write it", "Test it")
    text = Guidance(toolset).after_model(plan, ANSWER, Memory()).text
    assert toolset.text("waiting") in text
    for sample in SAMPLES[toolset.name].waiting:
        call = published(toolset, sample)
        plan = box.call(plan, call.name, call.arguments).plan
    assert [task.id for task in plan.waiting()] == ["1", "2"]
    assert Guidance(toolset).after_model(plan, ANSWER, Memory()).verdict == "accept"


def test_a_tool_set_of_ones_own_need_not_say_how_to_wait():
    """If a set has no text "waiting", the reminder leaves this sentence out."""
    own = ToolSet("mine", TODOS.tools, "write_todos")
    assert "and then answer. If you need" in Guidance(own).after_model(OPEN, ANSWER, Memory()).text


def test_an_approval_is_told():
    """An approval changes no task, but without the news the model would wait for ever."""
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
