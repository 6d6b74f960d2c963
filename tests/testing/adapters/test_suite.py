"""The conformance suite's own parts: capabilities, scripts, assertions, harness, report."""

import asyncio
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from threading import Barrier, Event

import attrs
import pytest
from hypothesis import Phase, given, settings
from support.conformance_sound import Sound
from support.faults import edited
from support.faults_of_adapters import LosesEstimates, MarksNoError, TakesJsonOnly, TellsNoCreations

from todoplan.core.commands import CreateTask, DeleteTask
from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import TODOS
from todoplan.testing.adapters import (
    ALL,
    AdapterSuite,
    Capability,
    Clock,
    ModelTurn,
    Script,
    Seen,
)
from todoplan.testing.adapters.checks import DEEP_TEXT, LONG_NUMBER
from todoplan.testing.adapters.host import (
    CHECKED_TOOLSETS,
    TASKS,
    Checks,
    HungError,
    broken_runs,
    conversation,
    interrupting,
    is_utf8,
    says,
    turn,
)
from todoplan.testing.adapters.report import table
from todoplan.testing.assertions import must, same, same_parts

pytest_plugins = ["pytester"]
LATER = datetime(2030, 1, 1, tzinfo=UTC)
ASKED = (Seen("user", "go"),)


class Whole(AdapterSuite):
    made: type = Sound

    def host(self, setup):
        return self.made(setup)


def suite_of(host):
    """Return the suite over a host, with everything declared."""
    return type("Suite", (Whole,), {"made": host})()


class Lesser(Whole):
    capabilities = ALL - {Capability.TURNS, Capability.CLOCK}


def test_a_suite_without_a_host_fails_and_says_what_to_write(pytester):
    """The suite is collected, and no check passes or is skipped."""
    pytester.makepyfile(MISSPELT)
    done = pytester.runpytest_inprocess(*PLUGIN, "-k", "two_agents or two_sessions")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        ["*TestMine has no host; write `def host(self, setup): return MyHost*"]
    )


class Forgetful(Sound):
    def seed(self, session, plan):
        pass


class Losing(Sound):
    def save(self, session, record):
        pass


def done():
    """Return the outcome of a run without calls."""
    return Whole().harness().run(says())


SEEDED = r"2 tasks were seeded in 'one', and host\.plan"
FAULTS_OF_HOSTS = {
    "a seed that is not saved": (
        lambda: suite_of(Forgetful).test_a_lost_plan_is_told_at_the_tail(), SEEDED,
    ),
    "such a seed, before an answer": (
        lambda: suite_of(Forgetful).test_an_early_answer_is_sent_back(), SEEDED,
    ),
    "an edit that is lost": (
        lambda: suite_of(Losing).harness().edit(CreateTask("Dig"), "ann"),
        r"was accepted, and host\.plan returns",
    ),
    "an edit that is refused": (
        lambda: Whole().harness().edit(DeleteTask("9"), "ann"), "was answered by Rejected",
    ),
    "a run that returns no plan": (
        lambda: attrs.evolve(done(), ran=attrs.evolve(done().ran, plan=None)).returns_plan(),
        r"Ran\(plan=...\) is missing",
    ),
    "a request that was not made": (
        lambda: done().request(1), "no request 1: the model was asked 1 times",
    ),
    "a request before the first one": (
        lambda: done().request(-2), "no request -2: the model was asked 1 times",
    ),
    "a call without an answer": (
        lambda: done().answer("call_7"), "the call call_7 has 0 answers",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("act", "said"), FAULTS_OF_HOSTS.values(), ids=FAULTS_OF_HOSTS)
def test_a_fault_of_the_host_is_said(act, said):
    """The message is about the host, and not about the adapter, such as a missing reminder."""
    with pytest.raises(AssertionError, match=said):
        act()


# fmt: off
NEEDED_BY = {
    "MODEL": 3, "TOOLS": 2, "TURNS": 3, "REMINDERS": 12, "FURTHER_TURNS": 16, "FINISH": 1,
    "THOUGHTS": 2, "ARGUMENTS": 2, "TEXT_ARGUMENTS": 2, "RAW_ARGUMENTS": 1, "BROKEN_TEXTS": 1,
    "LONG_NUMBERS": 2, "DEEP_TEXTS": 2, "UNKNOWN_TOOLS": 1, "ERROR_FLAG": 2, "EVENTS": 1, "EDITS":
    16, "LISTED": 8, "LIVE_EDITS": 1, "RETURNS": 1, "VERIFIER": 9, "CLOCK": 1, "RESUME": 8,
    "THREADS": 2, "TASKS": 2,
}
# fmt: on
"""How many checks need each capability."""


class Homeless(Whole):
    """A suite in which only checks that are skipped at once raise no LookupError."""

    def host(self, setup):
        raise LookupError


def left_out(check, capability):
    """Return whether a check is skipped for lack of a capability, with any of its parameters."""
    marks = [mark for mark in getattr(check, "pytestmark", []) if mark.name == "parametrize"]
    for values in [(value,) for value in marks[0].args[1]] if marks else [()]:
        with suppress(LookupError):
            with pytest.raises(pytest.skip.Exception, match=capability.name):
                check(*values)
            return True
    return False


def test_what_is_not_declared_is_left_out():
    """Each check says which capabilities it needs, and is skipped without any of them."""
    checks = [name for name in dir(Homeless) if name.startswith("test_")]
    found = {}
    for capability in Capability:
        suite = type("Suite", (Homeless,), {"capabilities": ALL - {capability}})()
        found[capability.name] = sum(left_out(getattr(suite, n), capability) for n in checks)
    assert found == NEEDED_BY


TEXTS = ["DEEP_TEXTS", "TEXT_ARGUMENTS"]


@pytest.mark.parametrize(
    ("check", "given", "host", "named"),
    [
        ("exactly_the_errors_are_marked", TASKS, MarksNoError, ["ERROR_FLAG"]),
        ("drawn_conversations_are_the_same", TASKS, MarksNoError, ["ERROR_FLAG"]),
        ("drawn_conversations_are_the_same", TASKS, TellsNoCreations, ["EVENTS"]),
        ("text_that_is_no_json_is_answered", DEEP_TEXT, TakesJsonOnly, TEXTS),
        ("the_plans_are_the_same", TASKS, LosesEstimates, []),
    ],
)
def test_a_failure_names_the_capabilities_that_its_check_needs(check, given, host, named):
    """The last note names them; it has none if every adapter must pass the check."""

    class Suite(Whole):
        drawing = settings(Whole.drawing, derandomize=True, database=None)
        made = host

    with pytest.raises((AssertionError, RecursionError)) as caught:
        getattr(Suite(), f"test_{check}")(given)
    _, _, last = caught.value.__notes__[-1].partition("remove the capability from `capabilities`: ")
    assert [each.partition(" ")[0] for each in last.split(", or ") if each] == named


class Hanging(Sound):
    """A framework that hangs in a call with many nines."""

    awaits = True

    def __init__(self, setup):
        super().__init__(setup)
        self.for_ever, self.cancelled = Event(), False

    async def carry_on(self, record, script, events):
        if any("99999" in str(call.arguments) for one in script.turns for call in one.calls):
            sent = ""
            while "99999" not in sent:
                turn = await script.areply(self.request(record, ""), self.offered())
                sent = str(turn.calls)
            try:
                await asyncio.sleep(60) if self.awaits else self.for_ever.wait(60)
            finally:
                self.cancelled = True
        await super().carry_on(record, script, events)


class Blocking(Hanging):
    awaits = False


class Limited(Whole):
    time_limit = 0.2
    made = Hanging


@pytest.mark.parametrize("hangs", [Hanging, Blocking])
def test_a_run_that_hangs_fails_and_says_what_to_take_out(hangs):
    """
    Whether a run awaits or blocks its thread, the failure shows the call that was sent, the limit,
    and the capabilities that could be removed. The next check is carried out.
    """
    suite = Limited()
    suite.made = hangs
    with pytest.raises(HungError) as caught:
        suite.test_text_that_is_no_json_is_answered(LONG_NUMBER)
    said = str(caught.value).splitlines()
    assert said[0] == "the run took longer than 0.2 seconds (`time_limit`):"
    assert said[1] == "  session one, exchange 2:"
    assert said[2] == "    user: 'go'"
    assert said[3].startswith("""    model: TaskCreate('{"subject": "Dig", "estimate": 9999""")
    assert said[4] == "    no answer was found"
    assert caught.value.__notes__[-1] == (
        "if the framework cannot do this, remove the capability from `capabilities`: LONG_NUMBERS"
        f" ({Capability.LONG_NUMBERS}), or TEXT_ARGUMENTS ({Capability.TEXT_ARGUMENTS})"
    )
    assert suite.latest.host.cancelled
    suite.test_two_agents_share_nothing()


def test_a_run_that_hangs_over_what_every_adapter_answers_is_no_capability():
    """The message says that no capability excuses it. `Harness.error` raises the error too."""
    harness = Limited().harness()
    long = turn(("TaskCreate", {"subject": "99999"}))
    for run in (harness.run, harness.error):
        with pytest.raises(HungError, match="no capability excuses this: every adapter has to"):
            run(long, says())


@pytest.mark.parametrize("threads", [True, False])
def test_one_of_two_sessions_may_hang(threads):
    """The message names the session that hangs, in threads and in tasks."""
    runs = {"ann": [says()], "bo": [turn(("TaskCreate", {"subject": "99999"})), says()]}
    with pytest.raises(HungError, match="session bo, exchange 1"):
        Limited().harness().together(runs, threads=threads)


def test_what_blocks_is_left_without_an_error():
    """
    A block that is interrupted ends without an error; its caller asks whether the work is done.
    """
    ended = []
    with interrupting(0.01):
        time.sleep(60)
        ended.append(True)
    assert ended == []


def test_what_blocks_is_not_interrupted_outside_of_the_main_thread():
    """In another thread, which receives no signals, the block runs to its end."""

    def work():
        with interrupting(0.01):
            time.sleep(0.1)
        return True

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result()


def test_a_signal_handler_of_another_program_is_kept():
    """A run restores the handler that was set before."""
    suite = suite_of(Sound)
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        suite.test_two_agents_share_nothing()
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_error_of_the_frameworks_own_time_limit_is_its_own():
    """The framework's TimeoutError is raised unchanged, and the run does not count as hung."""

    class Impatient(Sound):
        async def carry_on(self, record, script, events):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        suite_of(Impatient).harness().run(says())


def test_a_model_that_is_asked_without_end_fails():
    """The run fails once the model was asked far more often than its script has turns."""
    script = Script()
    for _ in range(30):
        script.reply(ASKED)
    with pytest.raises(AssertionError, match="31 times more than its script has turns"):
        script.reply(ASKED)


def test_a_script_waits_for_nobody_who_is_gone():
    """A model continues if its partner at the barrier is gone, in threads and in tasks."""
    meet = Barrier(2)
    meet.abort()
    assert Script(says("Yes."), meet=meet).reply(ASKED).text == "Yes."

    async def alone():
        meet = asyncio.Barrier(2)
        await meet.abort()
        script = Script(says("Yes."), meet=meet)
        return [(await script.areply(ASKED)).text for _ in range(2)]

    assert asyncio.run(alone()) == ["Yes.", "Done."]


LONG = "a" * 5000
SAID = {
    "values": (lambda: same([1], [2], "the ids"), "the ids:\n  found  [1]\n  wanted [2]"),
    "short values, whole": (
        lambda: same("a" * 190 + "b", "a" * 190, "one"),
        f"one:\n  found  '{'a' * 190}b'\n  wanted '{'a' * 190}'",
    ),
    "long values, from where they differ": (
        lambda: same(LONG + "b", LONG, "one"),
        f"one:\n  found  ...{'a' * 40}b'\n  wanted ...{'a' * 40}'",
    ),
    "long values that share nothing": (
        lambda: same("b" * 300, "a", "one"),
        f"one:\n  found  '{'b' * 199}... (302 characters)\n  wanted 'a'",
    ),
    "a long message": (lambda: must([], "x" * 9000), "x" * 2000 + "... (9000 characters)"),
    "only what differs": (
        lambda: same_parts({"a": 1, "b": [4], "d": 5}, {"a": 1, "b": [2]}, "it"),
        "differences in it:\n  b: found [4], wanted [2]\n  d: found 5, wanted nothing",
    ),
    "the first of many": (
        lambda: same_parts({}, {str(n): n for n in range(9)}, "it"),
        "differences in it:\n"
        + "".join(f"  {n}: found nothing, wanted {n}\n" for n in range(5))
        + "  and 4 more",
    ),
}


@pytest.mark.parametrize(("check", "said"), SAID.values(), ids=SAID)
def test_assertions_say_what_was_found(check, said):
    """A failed check shows what was found and what was wanted, clipped to the difference."""
    with pytest.raises(AssertionError) as caught:
        check()
    assert str(caught.value) == said
    same_parts({"a": 1}, {"a": 1}, "it")


def test_a_wrong_plan_is_told_by_its_wrong_fields():
    """If two plans of many tasks differ in one owner, the message has one line for it."""
    done = Whole().harness().run(*[turn(("TaskCreate", {"subject": f"Row {n}"})) for n in range(9)])

    def owned_by_ann(task):
        return task.but(owner="Ann") if task.id == "4" else task

    other = attrs.evolve(done, plan=edited(done.plan, owned_by_ann))
    with pytest.raises(AssertionError) as caught:
        other.same_plan()
    said = "differences in the plan:\n  #4 owner: found 'Ann', wanted None"
    assert str(caught.value) == said
    other.same_times()


def test_a_clock_stands_still_until_it_is_moved_on():
    """The clock is aware, stands still, and advances by a minute."""
    clock = Clock()
    before = clock()
    assert clock() == before
    clock.move_on()
    assert (clock() - before).total_seconds() == 60
    assert before.tzinfo


def test_calls_are_numbered_and_parted():
    """Every call has its own id; without `Capability.TURNS` each turn has one call."""
    runs = [(turn(("a", {}), ("b", "{"), text="x"), says()), (turn(("c", {})),)]
    whole = Lesser().harness().numbered(*runs, whole=True)
    assert whole == Whole().harness().numbered(*runs)
    assert whole[0][0] == ModelTurn((Call("a", {}, "call_1"), Call("b", "{", "call_2")), "x")
    assert whole[1][0].calls[0].call_id == "call_3"
    parted = Lesser().harness().numbered(*runs)
    assert [len(one.calls) for one in parted[0]] == [1, 1, 0]
    assert [one.text for one in parted[0]] == ["x", "x", "Done."]


@pytest.mark.parametrize("toolset", CHECKED_TOOLSETS.values(), ids=CHECKED_TOOLSETS)
def test_a_conversation_is_worth_its_time(toolset):
    """
    Each fixed conversation has an error and calls every writing tool; each run changes the plan.
    """
    harness = Whole().harness(toolset)
    done = harness.runs(*conversation(toolset))
    replies = [reply for one in done for reply in one.replies.values()]
    assert all(any(reply.events for reply in one.replies.values()) for one in done)
    assert any(reply.is_error for reply in replies)
    writers = {toolset.shown(tool.key) for tool in toolset.tools if not tool.read_only}
    assert writers <= {reply.name for reply in replies}


def test_no_check_hides_another():
    """The classes of the suite have no common names except those of their base class."""
    parts = AdapterSuite.__bases__
    common = set(dir(Checks))
    names = [name for part in parts for name in set(vars(part)) - common - {"__firstlineno__"}]
    assert sorted(names) == sorted(set(names))


def test_a_plan_is_compared_without_times():
    """An adapter with a clock of its own fails only the check of the times."""
    timeless = suite_of(lambda _, setup: Sound(attrs.evolve(setup, clock=lambda: LATER)))
    timeless.test_the_plans_are_the_same(CHECKED_TOOLSETS["todos"])
    with pytest.raises(AssertionError, match="the times"):
        timeless.test_the_times_are_those_of_the_clock()


def test_the_table_says_what_each_adapter_has():
    """The table has a line for each adapter, and explains the missing capabilities."""
    assert table([Whole, Lesser]).splitlines() == [
        "Whole   25 of 25 capabilities",
        "Lesser  23 of 25 capabilities, not TURNS, CLOCK",
        "TURNS: it knows the calls of one model turn and their order",
        "CLOCK: the times of changes can be set",
    ]
    assert table([]) == ""


MINE = """
from support.conformance_sound import Sound
from todoplan.testing.adapters import ALL, AdapterSuite, Capability


class TestMine(AdapterSuite):
    capabilities = ALL - {Capability.TURNS}

    def host(self, setup):
        return Sound(setup)


def test_else():
    pass
"""
MISSPELT = """
from todoplan.testing.adapters import AdapterSuite


class TestMine(AdapterSuite):
    def hosts(self, setup):
        return None
"""
PLUGIN = ("-p", "todoplan.testing.adapters.report", "-p", "no:cacheprovider")


def test_the_report_is_printed(pytester):
    """With the plugin, a run of a suite ends with the table; `-rs` shows what was skipped."""
    pytester.makepyfile(MINE)
    done = pytester.runpytest_inprocess(*PLUGIN, "-rs", "-k", "else or parallel or two_agents")
    done.assert_outcomes(passed=3, skipped=1)
    done.stdout.fnmatch_lines(["*SKIPPED*not declared: TURNS*"])
    done.stdout.fnmatch_lines(["*= adapters =*", "Mine  24 of 25 capabilities, not TURNS"])


WRONG = """
from support.faults_of_adapters import TakesTheListForTheWholeTruth
from todoplan.testing.adapters import AdapterSuite


class TestWrong(AdapterSuite):
    def host(self, setup):
        return TakesTheListForTheWholeTruth(setup)
"""


@pytest.mark.parametrize("more", [(), ("-vv",)])
def test_a_failed_check_says_what_was_said_last(pytester, more):
    """A failure shows check, law, difference and the last two exchanges; with `-vv` all."""
    pytester.makepyfile(WRONG)
    done = pytester.runpytest_inprocess(*PLUGIN, *more, "-k", "edit_survives_the_next or is_kept")
    done.assert_outcomes(failed=1)
    out = done.stdout.str()
    for line in (
        "check: test_a_persons_edit_survives_the_next_write",
        "law: If the model writes a list without having seen the edit, the list does not undo it.",
        "found  ['Dig', 'Lay']",
        "wanted ['Dig', 'Lay', 'Tell Bo']",
        "the last 2 of 4 exchanges:",
        "run 2, session one, exchange 1:",
        "tool call_2: 'ok, 0/2 completed; removed while open: ",
    ):
        assert line in out
    assert ("- the whole conversation -" in out) is bool(more)
    assert ("tool call_1: " in out) is bool(more)
    assert len([line for line in out.splitlines() if line.startswith("E  ")]) < 20


def test_without_a_suite_nothing_is_reported(pytester):
    """A run without any suite has no table."""
    pytester.makepyfile("def test_else():\n    pass\n")
    done = pytester.runpytest_inprocess(*PLUGIN)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*= adapters =*")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"a": "é"}, True),
        ({"a": "\ud83d\ude00"}, True),
        ({"a": ["\ud800"]}, False),
        ("\udfff", False),
    ],
)
def test_what_can_be_written_as_utf8(arguments, wanted):
    """A pair of surrogates becomes a character when it is read from JSON; half a pair does not."""
    assert is_utf8(arguments) is wanted


@given(broken_runs(TODOS, raw=True, whole=True))
@settings(max_examples=100, derandomize=True, database=None, phases=[Phase.generate])
def test_where_texts_must_be_utf8_none_is_broken(turns):
    """Half a surrogate pair is not drawn, and a run has at most three turns of two calls."""
    assert all(is_utf8(call.arguments) for one in turns for call in one.calls)
    assert len(turns) <= 4  # the last one is the final answer
    assert all(len(one.calls) <= 2 for one in turns)


def offering(change):
    """Return the suite over a sound host that offers other tools."""

    class Offering(Sound):
        def offered(self):
            return change(super().offered(), self.setup.toolbox.toolset)

    return suite_of(Offering)


def arguing(**arguments):
    """Return a change of some arguments of every tool."""

    def change(tools, toolset):
        others = [
            tool.schema | {"properties": tool.schema["properties"] | arguments} for tool in tools
        ]
        return [attrs.evolve(tool, schema=s) for tool, s in zip(tools, others, strict=True)]

    return change


OFFERED = {
    "a missing tool": (
        "tools", lambda tools, _: tools[1:], r"the names of the tools:\n  found  \['TaskGet'",
    ),
    "a tool twice": (
        "tools", lambda tools, _: [*tools, tools[0]], r"found  \['TaskCreate', 'TaskCreate'",
    ),
    "no tools": ("tools", lambda *_: None, "the script got no tools: pass them to reply"),
    "another description": (
        "tools",
        lambda tools, _: [attrs.evolve(tool, description="x") for tool in tools],
        "TaskGet: found 'x', wanted '",
    ),
    "a missing argument": (
        "schemas", arguing(owner=None), r"TaskCreate\.properties\.owner is None, not {",
    ),
    "an argument of another type": (
        "schemas", arguing(owner={"type": "integer"}), "owner.type is 'integer', not 'string'",
    ),
    "an argument too many": (
        "schemas", arguing(me={}), r"TaskList\.properties has 'me' in addition",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("what", "change", "said"), OFFERED.values(), ids=OFFERED)
def test_tools_that_are_others_are_told(what, change, said):
    """The message names the tool or the argument that differs, and what was offered."""
    with pytest.raises(AssertionError, match=said):
        getattr(offering(change), f"test_the_{what}_are_those_of_the_tool_set")(TASKS)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("toolset", CHECKED_TOOLSETS.values(), ids=CHECKED_TOOLSETS)
def test_a_framework_may_say_more(toolset, strict):
    """A framework may add titles to plain and strict schemas, and offer tools of its own."""

    def more(_, toolset):
        tools = toolset.definitions(strict=strict)
        own = attrs.evolve(tools[0], name="shell", schema={})
        return [own, *(attrs.evolve(t, schema={**t.schema, "title": "A"}) for t in tools)]

    suite = offering(more)
    suite.test_the_tools_are_those_of_the_tool_set(toolset)
    suite.test_the_schemas_are_those_of_the_tool_set(toolset)
