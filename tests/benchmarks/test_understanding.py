"""A scripted endpoint answers rightly, wrongly or not at all, and each answer gets its verdict."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import pytest

from benchmarks.suites import understanding
from benchmarks.suites.understanding import (
    KINDS,
    TRAPS,
    Endpoint,
    asked,
    contenders,
    interval,
    situations,
)

NAMES = [*contenders()]
EVERY = [*situations(15, 1), *situations(6, 1, TRAPS)]


@contextmanager
def endpoint(answers, seen=None):
    """Serve the answers in turn: a response, an HTTP status, or `None` for a cut connection."""
    queue = iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if seen is not None:
                seen.append((dict(self.headers), json.loads(body)))
            answer = next(queue)
            if answer is None:
                return
            status, said = (answer, {}) if isinstance(answer, int) else (200, answer)
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("retry-after", "0")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def native(*calls, **message):
    """Return a response with calls; `message` changes fields of the message."""
    said = [{"function": {"name": n, "arguments": json.dumps(a)}} for n, a in calls]
    message = {"content": None, "tool_calls": said} | message
    used = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"choices": [{"message": message}], "usage": used}


def words(text):
    """Return a response with words only."""
    return {"choices": [{"message": {"content": text}}]}


def right_of(contender, it):
    """Return the right calls in a situation."""
    finished = it.finished + (it.change == "done")
    return contender.right(it.change, it.steps, it.step, finished)


@pytest.mark.parametrize("name", NAMES)
def test_right_calls_are_right_in_every_situation(name):
    """The right calls of every tool set are right in every situation, the traps included."""
    contender = contenders()[name]()
    seen = []
    with endpoint((native(*right_of(contender, it)) for it in EVERY), seen) as url:
        rows = [asked(Endpoint(url, "m"), contender, it) for it in EVERY]
    assert [row["verdict"] for row in rows] == ["right"] * len(EVERY)
    assert {row["kind"] for row in rows} == {*KINDS, *TRAPS}
    assert (rows[0]["in"], rows[0]["out"], rows[0]["harm"]) == (100, 10, False)
    assert all(body["tools"] == contender.tools for _, body in seen)


@pytest.mark.parametrize("style", ["json", "free"])
@pytest.mark.parametrize("name", NAMES)
def test_written_calls_are_read(name, style):
    """
    Written calls are read; the tools are in the system message, with a schema only for `json`.
    """
    contender = contenders()[name]()
    cases = [it for it in EVERY if len(right_of(contender, it)) == 1]
    said = [right_of(contender, it)[0] for it in cases]
    texts = (words(json.dumps({"name": n, "arguments": a})) for n, a in said)
    seen = []
    with endpoint(texts, seen) as url:
        rows = [asked(Endpoint(url, "m", style), contender, it) for it in cases]
    assert {row["verdict"] for row in rows} == {"right"}
    assert rows[0]["in"] is None
    for _, body in seen:
        assert ("response_format" in body) == (style == "json")
        assert contender.tools[0]["function"]["name"] in body["messages"][0]["content"]
        roles = [message["role"] for message in body["messages"][1:]]
        assert all(one != other for one, other in pairwise(roles))


def only(kind):
    """Return the first situation of a kind."""
    return next(it for it in EVERY if it.kind == kind)


@pytest.mark.parametrize(
    ("kind", "call", "verdict", "harm"),
    [
        ("done", {"done": [2]}, "wrong", True),
        ("done", {}, "wrong", False),
        ("done", {"done": [1, 2]}, "partly", False),
        ("done", {"done": [99]}, "refused", False),
        ("add", {"add": ["Something else"]}, "wrong", True),
        ("add", {"add": ["{step}", "And another thing"]}, "partly", False),
        ("drop", {"drop": [1]}, "wrong", True),
        ("drop", {"drop": [2, 3]}, "partly", False),
        ("begin", {"write": ["Something else"]}, "wrong", True),
        ("begin", {"write": ["{steps}", "And another thing"]}, "partly", False),
        ("add later", {"done": [2]}, "wrong", True),
    ],
)
def test_other_calls_are_judged_by_the_plan(kind, call, verdict, harm):
    """A call is judged by the plan after it: wrong, too much, or refused by the library."""
    it, contender = only(kind), contenders()["lean compact"]()
    filled = {
        key: [
            text
            for value in values
            for text in (
                it.steps if value == "{steps}" else [it.step if value == "{step}" else value]
            )
        ]
        for key, values in call.items()
    }
    with endpoint([native(("plan", filled))]) as url:
        row = asked(Endpoint(url, "m"), contender, it)
    assert (row["verdict"], row["harm"]) == (verdict, harm)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_tool_is_refused(name):
    """The library refuses an unknown tool, and the plan does not change."""
    contender = contenders()[name]()
    with endpoint([native(("nosuch", {}))]) as url:
        row = asked(Endpoint(url, "m"), contender, only("done"))
    assert (row["verdict"], row["harm"]) == ("refused", False)


def test_words_are_no_call():
    """An answer without a call has the verdict "no call" in every style."""
    contender = contenders()["todos compact"]()
    for style in understanding.STYLES:
        with endpoint([words("I will do that.")]) as url:
            row = asked(Endpoint(url, "m", style), contender, only("done"))
        assert row["verdict"] == "no call"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "plan", "arguments": {"done": [1]}}\n```',
        "{'name': 'plan', 'arguments': {'done': [1]}}",
        '{"name": "plan", "arguments": {"done": [1]}',
        '{"name": "plan", "arguments": "{\\"done\\": [1]}"}',
    ],
)
def test_a_call_that_is_written_badly_is_left_to_the_library(text):
    """Only the name and the arguments' text are found; the library reads the arguments."""
    with endpoint([words(text)]) as url:
        row = asked(Endpoint(url, "m", "free"), contenders()["lean compact"](), only("done"))
    assert row["verdict"] == "right"


@pytest.mark.parametrize("answer", [400, 500, {}, {"choices": []}, None])
def test_no_answer_is_no_verdict(answer):
    """An error, an invalid response and a cut connection have the verdict "no answer"."""
    with endpoint([answer]) as url:
        row = asked(Endpoint(url, "m"), contenders()["lean compact"](), only("done"))
    assert row["verdict"] == "no answer"
    assert row["reason"]


def test_a_busy_endpoint_is_asked_again():
    """A busy endpoint is asked again after the pause that it names."""
    with endpoint([429, 503, native(("plan", {"done": [1]}))]) as url:
        row = asked(Endpoint(url, "m"), contenders()["lean compact"](), only("done"))
    assert row["verdict"] == "right"


def test_the_command_asks_only_for_answers_that_are_not_saved(
    command, monkeypatch, tmp_path, capsys
):
    """A second run asks only for missing answers; `--again` asks for none."""
    monkeypatch.setenv("KEY_OF_A_TEST", "secret")
    path, seen = tmp_path / "found.jsonl", []
    options = ["--model", "m", "--only", "lean compact", "--save", path]
    options += ["--key-variable", "KEY_OF_A_TEST", "--body", '{"temperature": null, "seed": 3}']
    contender = contenders()["lean compact"]()
    answers = [native(*right_of(contender, it)) for it in situations(3, 1)]
    with endpoint([answers[0], 500, *answers[1:]], seen) as url:
        command("understanding", "--base-url", url, *options, "--cases", 2)
        assert "| m, native | lean compact | 1 | 1 |" in capsys.readouterr().out
        command("understanding", "--base-url", url, *options, "--cases", 3)
    first = capsys.readouterr().out
    assert "| m, native | lean compact | 3 | 3 | 0 | 0 | 0 | 0 | 0 | 44% to 100% | 100 |" in first
    assert "| m, native | lean compact | 1 + 0, 1 | 1 + 0, 1 | 1 + 0, 1 |" in first
    headers, body = seen[0]
    assert headers["Authorization"] == "Bearer secret"
    assert "temperature" not in body
    assert body["seed"] == 3
    assert "secret" not in path.read_text("utf-8")
    command("understanding", "--again", path)
    assert "| m, native | lean compact | 3 | 3 |" in capsys.readouterr().out


def test_the_command_gives_up_on_an_endpoint_that_is_not_there(command, capsys):
    """After three requests in a row without an answer the run ends with the last error."""
    with endpoint([]) as url:
        pass
    with pytest.raises(SystemExit, match="no answer 3 times in a row, the last time: URLError"):
        command("understanding", "--base-url", url, "--model", "m", "--only", "lean compact")
    assert "| m, native | lean compact | 0 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--base-url and --model say whom to ask"),
        (("--base-url", "u", "--model", "m", "--only", "x"), "no tool set is called x"),
    ],
)
def test_the_command_says_what_is_missing(command, capsys, options, said):
    """The error names the missing option or the unknown tool set."""
    with pytest.raises(SystemExit):
        command("understanding", *options)
    assert said in capsys.readouterr().err


def test_situations_are_drawn_from_the_seed():
    """Equal seeds give equal situations, with each kind in turn."""
    assert situations(20, 3) == situations(20, 3) != situations(20, 4)
    assert [it.kind for it in situations(5, 3)] == [*KINDS]


def test_intervals_are_wilsons():
    """The intervals equal published values; without any answer the interval is 0 to 1."""
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert interval(50, 50) == pytest.approx((0.9287, 1.0), abs=1e-4)
