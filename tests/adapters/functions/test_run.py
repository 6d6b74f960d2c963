"""`Run`: a loop of one's own with guidance, in every shape; nothing of it can be mislaid."""

import json
from types import SimpleNamespace

import pytest
from support.cut_off import Cut, CutMemory
from support.wires import CHAT, EVERY, GEMINI, MESSAGES, RESPONSES, Sent, says, user

from todoplan import LEAN, TASKS, MemoryStore, Toolbox
from todoplan.adapters.functions import openai_chat
from todoplan.core import commands
from todoplan.dialogue import Reply, Settings
from todoplan.errors import PlanError
from todoplan.testing.adapters.host import QUIET

EDIT = commands.CreateTask("Tell Ann")


def write(*todos, call_id="w"):
    listed = [{"content": content, "status": status} for content, status in todos]
    return Sent("write_todos", {"todos": listed}, call_id)


class Loop:
    """The loop of an embedder, over one shape, on a script of calls and texts."""

    def __init__(self, wire, **kept):
        self.wire, self.kept, self.requests = wire, kept, []
        self.messages, self.saved, self.run = [], None, None

    def go(self, *script, tools=lambda call: f"{call.name}: nothing", before=lambda request: None):
        self.messages.append(user(self.wire, "go"))
        self.run = self.wire.module.start_run(**self.kept, saved=self.saved)
        for said in script:
            self.requests.append(json.dumps(self.run.before_model(self.messages)))
            before(len(self.requests))
            is_text = isinstance(said, str)
            response = says(self.wire, said) if is_text else self.wire.respond(said)
            what = self.run.after_model(response)
            if what != "again":
                self.messages += self.run.answer(response, tools)
                self.saved = json.loads(json.dumps(self.run.to_data()))
        return what

    def told(self):
        """Return the results as they are kept, in order."""
        results = []
        for message in self.messages:
            for read in (self.wire.read,):
                try:
                    results += [text for _, text in read([message])]
                except (KeyError, TypeError):
                    continue
        return results


@EVERY
def test_every_early_answer_is_in_the_requests_until_the_model_goes_on(wire):
    """In order: a model that saw only its last one could repeat the others."""
    loop = Loop(wire, settings=Settings(unfinished=2))
    loop.go([write(("Dig", "in_progress"))], "First.", "Second.", "Third.")
    said = [[text for text in ("First.", "Second.") if text in one] for one in loop.requests]
    assert said == [[], [], ["First."], ["First.", "Second."]]


@EVERY
def test_a_run_answers_calls_and_keeps_nothing_of_a_reminder(wire):
    """What is kept is plain JSON, with a result for every call, in the order of the calls."""
    loop = Loop(wire, settings=Settings(unfinished=1))
    todo, done = write(("a", "pending")), write(("a", "completed"), call_id="v")
    what = loop.go([Sent("search", {"q": 1}, "s"), todo], "Early.", [done], "Done.")
    assert what == "stop"
    assert loop.told() == ["search: nothing", "ok, 0/1 completed", "ok, 1/1 completed"]
    reminded = ["<todoplan-reminder>" in request for request in loop.requests]
    early = ["Early." in request for request in loop.requests]
    assert (reminded, early) == ([False, False, True, False],) * 2
    kept = json.dumps(loop.messages)
    assert "Early." not in kept
    assert "<todoplan-reminder>" not in kept
    assert "Done." in kept
    read = wire.module.read_messages(loop.messages)
    assert sum(len(message.calls) for message in read) == 3
    assert len(loop.run.planner.plan) == 1


def test_a_request_that_failed_is_asked_for_again_and_counts_once():
    """The same messages, the same reminder; nothing was remembered of the first."""
    run = openai_chat.start_run(settings=Settings(empty=1))
    first = run.before_model([user(CHAT, "go")])
    assert run.before_model([user(CHAT, "go")]) == first
    assert "<todoplan-reminder>" in first[-1]["content"]
    assert run.after_model(says(CHAT, "ok")) == "stop"
    assert "<todoplan-reminder>" not in json.dumps(run.before_model([user(CHAT, "go")]))


def test_an_answer_that_is_only_asked_whether_it_is_all_stands():
    """With `all_done` both answers are kept; if the model works on, only its calls."""
    always = Settings(all_done="always")
    loop = Loop(CHAT, settings=always)
    assert loop.go([write(("a", "completed"))], "It is 4.", "That is all.") == "stop"
    assert [one.get("content") for one in loop.messages[-2:]] == ["It is 4.", "That is all."]
    loop = Loop(CHAT, settings=always)
    loop.go([write(("a", "completed"))], "It is 4.", [Sent("search", {}, "s")], "It is 5.")
    texts = [one.get("content") for one in loop.messages]
    assert ("It is 4." in texts, texts[-1]) == (False, "It is 5.")


def test_a_tool_of_ones_own_may_answer_with_an_error():
    """A `Reply` says so, where the shape has a flag for it."""

    def fails(call):
        text = "no network"
        return Reply(loop.run.planner.plan, text, is_error=True, call_id=call.call_id)

    loop = Loop(MESSAGES)
    loop.go([Sent("search", {}, "s")], "ok", tools=fails)
    assert loop.messages[2]["content"][0]["is_error"] is True


def test_a_tool_that_raises_leaves_the_plan_alone():
    """The same response may be answered again."""
    run, both = openai_chat.start_run(), [write(("a", "pending")), Sent("search", {}, "s")]
    response = CHAT.respond(both)
    run.before_model([])
    run.after_model(response)

    def broken(call):
        msg = "no network"
        raise OSError(msg)

    with pytest.raises(OSError, match="no network"):
        run.answer(response, broken)
    assert len(run.planner.plan) == 0
    assert len(run.answer(response, lambda call: "found")) == 3
    assert len(run.planner.plan) == 1


def asked():
    run = openai_chat.start_run()
    run.before_model([])
    return run


def sent_back():
    run = openai_chat.start_run()
    run.planner.apply(EDIT)
    run.before_model([])
    assert run.after_model(says(CHAT, "Early.")) == "again"
    return run


def searched(*how):
    run, response = asked(), CHAT.respond([Sent("search", {}, "s")])
    run.after_model(response)
    run.answer(response, *how)


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (lambda: openai_chat.start_run().after_model(says(CHAT, "ok")), "call before_model"),
        (lambda: sent_back().after_model(says(CHAT, "ok")), "call before_model"),
        (lambda: asked().answer(says(CHAT, "ok")), "call after_model"),
        (lambda: sent_back().answer(says(CHAT, "ok")), "call after_model"),
        (searched, "the model calls search"),
        (lambda: searched(lambda call: 7), "give what the tool"),
        (lambda: openai_chat.start_run(LEAN), "give a toolbox"),
        (lambda: openai_chat.start_run(settings=0), "give settings"),
        (lambda: openai_chat.start_run(clock=0), "give a clock"),
        (lambda: openai_chat.start_run(plan_id="1"), "give store"),
        (lambda: openai_chat.start_run(saved=[]), "to_data"),
        (
            lambda: openai_chat.start_run(
                store=MemoryStore(), plan_id="1", saved=openai_chat.start_run().to_data()
            ),
            "leave out one of them",
        ),
    ],
)
def test_a_developers_mistake_is_an_error(wrong, remedy):
    """Nothing is done then, and it says what to do."""
    with pytest.raises(PlanError, match=remedy):
        wrong()


def test_a_turn_that_goes_on_by_itself_is_no_end():
    """Anthropic's "pause_turn" has neither calls nor an answer."""
    run = MESSAGES.module.start_run()
    run.before_model([])
    paused = {**says(MESSAGES, "Searching"), "stop_reason": "pause_turn"}
    assert run.after_model(paused) == "answer"
    assert run.answer(paused) == [{"role": "assistant", "content": paused["content"]}]


def is_answered(run, response):
    run.before_model([])
    return run.after_model(response), run.answer(response)


@EVERY
@pytest.mark.parametrize("has_open_tasks", [True, False])
@pytest.mark.parametrize(
    "seen",
    [
        {"error": {"message": "rate limit"}},
        {"type": "error", "error": {"type": "overloaded_error"}},
        {"status": "failed", "output": []},
        {"choices": []},
        {"candidates": []},
        {},
        "rate limit",
        7,
        None,
    ],
    ids=str,
)
def test_what_is_no_answer_of_a_model_is_an_error_and_ends_no_run(wire, seen, has_open_tasks):
    """It says what was seen; the answer to the same request is judged as if nothing had been."""
    run = wire.module.start_run()
    if has_open_tasks:
        run.planner.apply(EDIT)
    run.before_model([user(wire, "go")])
    before = run.to_data()
    with pytest.raises(PlanError, match="is no answer of a model") as caught:
        run.after_model(seen)
    assert caught.value.data["seen"] == seen
    assert run.to_data() == before
    assert run.after_model(says(wire, "Done.")) == ("again" if has_open_tasks else "stop")


def test_a_model_that_says_nothing_or_may_not_ends_the_run():
    """What has no content is not kept: the next request would be refused for it."""
    blocked = {"prompt_feedback": {"block_reason": "SAFETY"}}
    camel = {"promptFeedback": {"blockReason": "SAFETY"}, "candidates": []}
    for response in (blocked, camel, {"candidates": [{"finish_reason": "SAFETY"}]}):
        assert is_answered(GEMINI.module.start_run(), response) == ("stop", [])
    assert is_answered(RESPONSES.module.start_run(), {"output": []}) == ("stop", [])


@pytest.mark.parametrize(
    ("wire", "given"),
    [
        (CHAT, {"role": "assistant", "content": "ok"}),
        (CHAT, SimpleNamespace(role="assistant", content="ok")),
        (GEMINI, {"role": "model", "parts": [{"text": "ok"}]}),
        (MESSAGES, {"role": "assistant", "content": "ok"}),
    ],
)
def test_what_is_kept_of_a_response_may_be_the_message_itself(wire, given):
    """An object of nobody's, or a dict, is handed on as it is."""
    run = wire.module.start_run()
    run.before_model([])
    assert run.after_model(given) == "stop"
    assert run.answer(given) == [given]


@EVERY
def test_a_response_that_is_answered_again_changes_nothing_twice(wire):
    """If the acknowledgement of a commit is lost, the loop gets the answers of then."""
    store = CutMemory()
    calls = wire.respond([Sent("TaskCreate", {"subject": name}, name) for name in "ab"])
    kept = {"toolbox": Toolbox(TASKS), "store": store, "plan_id": "7", "settings": QUIET}
    run = wire.module.start_run(**kept)
    run.before_model([user(wire, "go")])
    run.after_model(calls)
    saved = json.loads(json.dumps(run.to_data()))
    with pytest.raises(Cut):
        run.answer(calls)
    told = run.answer(calls)
    other = wire.module.start_run(**kept, saved=saved)
    other.before_model([user(wire, "go")])
    other.after_model(calls)
    assert all(f"0/{n}: #{n} created" in json.dumps(told) for n in (1, 2))
    assert other.answer(calls) == told
    assert [task.subject for task in store.load("7")] == ["a", "b"]
