"""
Does a model understand a tool set? In each situation it makes one call, and the plan is judged.

    python -m benchmarks understanding --base-url http://localhost:8080/v1 --model NAME

A situation is a plan of 3 to 5 steps, made by right calls of the tool set, and a message of the
user: begin, a step is done, one more step, one step less, all done. Prompts, schemas, replies and
parsers are those of the libraries: todoplan's `todos`, `tasks` and `lean`, LangChain's
`TodoListMiddleware`, AgentScope's task tools. The library carries out the call. Verdicts:

- right: the plan is as it should be.
- partly: the requested change was made, but the plan is not exactly as it should be.
- wrong: the requested change was not made.
- refused: the library answered with an error.
- no call: the model answered with words only.

"Harm" counts the wrong and refused calls that changed the plan. Requests that get no answer are
counted separately, and three in a row end the run.

`--style native` uses the server's function calling. `json` puts the tools into the system message
and restricts the output to their schema. `free` only puts the tools into the system message. With
`--traps`, steps are added and dropped after others were completed: a model that only repeats its
last call fails there.
"""

import argparse
import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any, Protocol

import attrs

from benchmarks.contenders import installed
from benchmarks.handling.player import entry_class
from benchmarks.reports.tables import table
from todoplan import LEAN, TASKS, TODOS, Plan
from todoplan.adapters.functions.openai_chat import make_tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import Length, ToolSet

__all__ = [
    "Contender",
    "Endpoint",
    "Situation",
    "asked",
    "contenders",
    "interval",
    "main",
    "situations",
    "tables",
]

Item = tuple[str, str]
"""A text and a status."""
Calls = list[tuple[str, dict[str, Any]]]
Row = dict[str, Any]

STYLES = ("native", "json", "free")
KINDS = ("begin", "done", "add", "drop", "all done")
TRAPS = ("add later", "drop later")
VERDICTS = ("right", "partly", "wrong", "refused", "no call")
_LONGEST_SILENCE = 3
_BUSY = {429, 503}

# -- situations

_WORK = tuple(
    tuple(line.split(", "))
    for line in """\
Book the room, Invite the guests, Order the cake, Print the menus, Hire a band, Rent chairs
Write the parser, Test the parser, Update the docs, Tag a release, Fix the linter, Merge the fork
Collect the data, Clean the data, Plot the results, Write the summary, Send it, Archive the files
Strip the paper, Paint the walls, Lay the carpet, Hang the curtains, Fit shelves, Oil the hinges
Read the contract, Call the lawyer, List the risks, Draft an answer, Sign the papers, Pay the fee
Back up the data, Add the new column, Move the rows, Drop the old table, Restart it, Rotate keys
Pick a trail, Pack the tent, Buy food, Charge the lamps, Fill the bottles, Print the map
Find three suppliers, Ask for prices, Compare the offers, Choose one, Place the order, Book it
""".splitlines()
)
_BEGIN = (
    "I need these things done, in this order: {list}. Plan them now, before you begin.",
    "Please do the following for me: {list}. Make a plan of it first.",
    "Here is your work: {list}. Put it all in the plan before you start.",
)
_MESSAGES = {
    "begin": ("",),
    "done": (
        "{step}: this is done and checked.",
        "{step}: completed, it works.",
        "{step} is finished and checked.",
    ),
    "add": (
        "One more thing, at the end: {step}.",
        "I forgot something. Also: {step}. Put it last.",
        "There is also this to do, after all the rest: {step}.",
    ),
    "drop": (
        "We no longer need this: {step}.",
        "Forget about this one: {step}.",
        "I changed my mind, don't do this: {step}.",
    ),
}


@attrs.frozen
class Situation:
    """
    What the user asked for, how many steps the plan shows as completed, and the last message.

    `change` is what the right call does: "begin", "done", "add" or "drop". `step` is the step that
    `message` is about. The step after the completed steps is in progress.
    """

    number: int
    kind: str
    change: str
    steps: tuple[str, ...]
    request: str
    finished: int
    message: str
    step: str


def situations(count: int, seed: int, kinds: tuple[str, ...] = KINDS) -> list[Situation]:
    """Return `count` situations, with each kind in turn. Equal seeds give equal situations."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    return [_situation(chance, number, kinds) for number in range(count)]


def _situation(chance: random.Random, number: int, kinds: tuple[str, ...]) -> Situation:
    kind, size = kinds[number % len(kinds)], 3 + number // len(kinds) % 3
    *steps, new = chance.sample(chance.choice(_WORK), size + 1)
    numbered = "; ".join(f"{place}. {text}" for place, text in enumerate(steps, 1))
    request = chance.choice(_BEGIN).format(list=numbered)
    finished = {"all done": size - 1, "add later": size - 2, "drop later": size - 2}.get(kind, 0)
    change = "done" if kind == "all done" else kind.removesuffix(" later")
    match change:
        case "begin":
            step = ""
        case "add":
            step = new
        case "drop":
            step = chance.choice(steps[finished + 1 :])
        case _:
            step = steps[finished]
    message = chance.choice(_MESSAGES[change]).format(step=step)
    return Situation(number, kind, change, tuple(steps), request, finished, message, step)


# -- the tool sets, and the right calls of each


class Session(Protocol):
    """A plan with the tools that change it."""

    def call(self, name: str, text: str) -> tuple[str, bool]:
        """Carry out a call with arguments as text; return the reply and whether it succeeded."""

    def items(self) -> list[Item]:
        """Return the texts and statuses of the plan, in its order."""


@attrs.frozen(eq=False)
class Contender:
    """
    A tool set as its library sends it to a model.

    `right` returns the right calls for a change. Its arguments are "begin", "done", "add" or
    "drop", the steps, the step that the change is about, and how many steps are completed after the
    change. If `one_by_one` is true, each call creates or changes one task, so a right change may
    need several calls.
    """

    name: str
    system: str
    tools: list[dict[str, Any]]
    session: Callable[[], Session]
    right: Callable[[str, Sequence[str], str, int], Calls]
    one_by_one: bool = False


def contenders() -> dict[str, Callable[[], Contender]]:
    """Return a function that makes each contender, by name. Only installed peers are included."""
    found: dict[str, Callable[[], Contender]] = {}
    lengths: tuple[Length, ...] = ("compact", "guided")
    for name, toolset, right in (
        ("todos", TODOS, _whole),
        ("tasks", TASKS, _tasks),
        ("lean", LEAN, _lean),
    ):
        for length in lengths:
            found[f"{name} {length}"] = partial(_ours, name, toolset, length, right)
    if installed("langchain"):
        found["LangChain"] = partial(_peer, "LangChain", _whole)
    if installed("agentscope"):
        found["AgentScope"] = partial(_peer, "AgentScope", _agentscope_tasks, one_by_one=True)
    return found


class _Ours:
    def __init__(self, box: Toolbox) -> None:
        self.box, self.plan = box, Plan()

    def call(self, name: str, text: str) -> tuple[str, bool]:
        reply = self.box.call(self.plan, name, text)
        self.plan = reply.plan
        return reply.text, not reply.is_error

    def items(self) -> list[Item]:
        return [(task.subject, task.status.value) for task in self.plan]


def _ours(name: str, toolset: ToolSet, length: Length, right: Any) -> Contender:
    box = Toolbox(toolset)
    return Contender(
        f"{name} {length}",
        toolset.system_prompt(length),
        make_tools(box),
        lambda: _Ours(box),
        right,
        one_by_one=name == "tasks",
    )


def _whole(change: str, steps: Sequence[str], step: str, finished: int) -> Calls:
    kept = [text for text in steps if change != "drop" or text != step]
    texts = [*kept, step] if change == "add" else kept
    words = [*["completed"] * finished, "in_progress", *["pending"] * len(texts)]
    todos = [{"content": text, "status": word} for text, word in zip(texts, words, strict=False)]
    return [("write_todos", {"todos": todos})]


def _lean(change: str, steps: Sequence[str], step: str, finished: int) -> Calls:
    match change:
        case "begin":
            return [("plan", {"write": [*steps]})]
        case "add":
            return [("plan", {"add": [step]})]
        case "drop":
            return [("plan", {"drop": [steps.index(step) + 1]})]
        case _:
            return [("plan", {"done": [finished]})]


def _tasks(change: str, steps: Sequence[str], step: str, finished: int) -> Calls:
    match change:
        case "begin":
            made = {"tasks": [{"subject": text} for text in steps]}
            return [("TaskCreate", made), ("TaskUpdate", {"taskId": "1", "status": "in_progress"})]
        case "add":
            return [("TaskCreate", {"subject": step})]
        case "drop":
            place = str(steps.index(step) + 1)
            return [("TaskUpdate", {"taskId": place, "status": "cancelled"})]
        case _:
            return _next_started("taskId", steps, finished)


def _next_started(key: str, steps: Sequence[str], finished: int) -> Calls:
    calls: Calls = [("TaskUpdate", {key: str(finished), "status": "completed"})]
    if finished < len(steps):
        calls.append(("TaskUpdate", {key: str(finished + 1), "status": "in_progress"}))
    return calls


def _agentscope_tasks(change: str, steps: Sequence[str], step: str, finished: int) -> Calls:
    match change:
        case "begin":
            made = [("TaskCreate", {"subject": text, "description": text}) for text in steps]
            return [*made, ("TaskUpdate", {"task_id": "1", "status": "in_progress"})]
        case "add":
            return [("TaskCreate", {"subject": step, "description": step})]
        case "drop":
            place = str(steps.index(step) + 1)
            return [("TaskUpdate", {"task_id": place, "status": "deleted"})]
        case _:
            return _next_started("task_id", steps, finished)


class _Peer:
    """A plan of an entry of `handling`, which runs a peer's tools as the peer's own agent does."""

    def __init__(self, entry: str) -> None:
        self.entry = entry_class(entry)()

    def call(self, name: str, text: str) -> tuple[str, bool]:
        try:
            answers = self.entry.turn([(name, text)])
        except Exception as error:  # noqa: BLE001 - whatever it is, the model is told
            return f"Error: {error}", False
        if not answers:
            return "The agent does not answer this call.", False
        return answers[0].text, not answers[0].is_error

    def items(self) -> list[Item]:
        return [(task.text, task.status) for task in self.entry.tasks()]


def _peer(name: str, right: Any, *, one_by_one: bool = False) -> Contender:
    entry = _Peer(name.lower()).entry
    prompt, tools = entry.request(), json.loads(entry.tools())
    return Contender(name, prompt, tools, partial(_Peer, name.lower()), right, one_by_one)


# -- a request and what comes back

_FIRST = "You are a helpful assistant."
_HOW = """You can call these tools:
{tools}

To call a tool, answer with one JSON object and nothing else:
{{"name": "<tool>", "arguments": {{...}}}}"""


@attrs.frozen
class Endpoint:
    """
    An endpoint of OpenAI's chat completions.

    `key_variable` names the environment variable with the key. `body` is merged into every request;
    `None` removes a field.
    """

    url: str
    model: str
    style: str = "native"
    key_variable: str = ""
    timeout: float = 300.0
    body: dict[str, Any] = attrs.field(factory=dict)

    def ask(self, contender: Contender, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """
        Return the response to a request for one call.

        Raises:
            OSError: the endpoint cannot be reached, or answered with an error.
            ValueError: the answer is no JSON.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": 1_000,
        }
        if self.style == "json":
            schema = {"name": "call", "schema": _schema_of_a_call(contender)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.style == "native":
            body |= {"tools": contender.tools, "tool_choice": "required"}
            body["parallel_tool_calls"] = False
        sent = {name: value for name, value in (body | self.body).items() if value is not None}
        headers = {"content-type": "application/json"}
        if self.key_variable:
            headers["authorization"] = f"Bearer {os.environ[self.key_variable]}"
        url = self.url.rstrip("/") + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(sent).encode(), headers)  # noqa: S310
        for pause in (1, 4, 16, None):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                    said: dict[str, Any] = json.load(answer)
                    return said
            except urllib.error.HTTPError as error:
                if error.code not in _BUSY or pause is None:
                    text = error.read(300).decode("utf-8", "replace")
                    failed = f"{error.code} {error.reason}: {text}"
                    raise OSError(failed) from None
                time.sleep(float(error.headers.get("retry-after") or pause))
        raise AssertionError


def _schema_of_a_call(contender: Contender) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool["function"]["name"]},
                "arguments": tool["function"]["parameters"],
            },
            "required": ["name", "arguments"],
        }
        for tool in contender.tools
    ]
    return {"anyOf": calls}


def _conversation(
    contender: Contender, situation: Situation, session: Session, style: str
) -> list[dict[str, Any]]:
    """Return the messages before the requested call, and carry out their calls in the session."""
    native = style == "native"
    how = _HOW.format(tools="\n".join(json.dumps(tool["function"]) for tool in contender.tools))
    system = [_FIRST, contender.system, "" if native else how]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "\n\n".join(filter(None, system))},
        {"role": "user", "content": situation.request},
    ]

    def play(calls: Calls) -> None:
        for name, arguments in calls:
            text = json.dumps(arguments)
            answer, succeeded = session.call(name, text)
            if not succeeded:
                raise AssertionError(answer)
            function = {"name": name, "arguments": text if native else arguments}
            if native:
                call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})
            else:
                messages.append({"role": "assistant", "content": json.dumps(function)})
                messages.append({"role": "user", "content": f"Tool result: {answer}"})

    def tell(text: str) -> None:
        if native:
            messages.append({"role": "user", "content": text})
        else:  # one message, for templates that want user and assistant to alternate
            messages[-1]["content"] += f"\n\n{text}"

    if situation.change == "begin":
        return messages
    steps = situation.steps
    play(contender.right("begin", steps, "", 0))
    for finished in range(1, situation.finished + 1):
        tell(f"{steps[finished - 1]} is finished and checked.")
        play(contender.right("done", steps, steps[finished - 1], finished))
    tell(situation.message)
    return messages


def _calls_in(message: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names of the called tools and the arguments as text, which the library parses."""
    if calls := message.get("tool_calls"):
        said = [call["function"] for call in calls]
        return [(str(call["name"]), str(call["arguments"])) for call in said]
    text = re.sub(r"^\s*```\w*\s*|\s*```\s*$", "", str(message.get("content") or ""))
    try:
        value = json.loads(text)
        name, arguments = str(value["name"]), value["arguments"]
        return [(name, arguments if isinstance(arguments, str) else json.dumps(arguments))]
    except (ValueError, TypeError, KeyError):
        pass
    named = re.search(r"""["']?name["']?\s*:\s*["'](\w+)["']""", text)
    rest = re.search(r"""["']?arguments["']?\s*:\s*""", text)
    if not named or not rest:
        return []
    written = text[rest.end() :].rstrip()
    # The last brace may close the call and not the arguments.
    more = written.count("}") > written.count("{")
    return [(named[1], written.removesuffix("}") if more else written)]


# -- verdicts


def asked(endpoint: Endpoint, contender: Contender, situation: Situation) -> Row:
    """Ask the model in one situation, have the library carry out its calls, and judge the plan."""
    session = contender.session()
    messages = _conversation(contender, situation, session, endpoint.style)
    before = session.items()
    row: Row = {
        "model": endpoint.model,
        "style": endpoint.style,
        "contender": contender.name,
        "kind": situation.kind,
        "number": situation.number,
    }
    began = time.monotonic()
    try:
        said = endpoint.ask(contender, messages)
        message, used = said["choices"][0]["message"], said.get("usage") or {}
        calls = _calls_in(message)
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        return row | {"verdict": "no answer", "reason": f"{type(error).__name__}: {error}"}
    seconds = time.monotonic() - began
    answers = [session.call(*call) for call in calls]
    after = session.items()
    verdict = _judged(contender, situation, before, after)
    if not calls:
        verdict = "no call"
    elif verdict != "right" and not all(succeeded for _, succeeded in answers):
        verdict = "refused"
    return row | {
        "verdict": verdict,
        "harm": verdict in {"wrong", "refused"} and after != before,
        "said": calls or message.get("content"),
        "answers": [text[:300] for text, _ in answers],
        "in": used.get("prompt_tokens"),
        "out": used.get("completion_tokens"),
        "seconds": round(seconds, 2),
    }


def _judged(
    contender: Contender, situation: Situation, before: list[Item], after: list[Item]
) -> str:
    live = [item for item in after if item[1] not in {"cancelled", "deleted"}]
    place, step = situation.finished, situation.step
    match situation.change:
        case "begin":
            wanted = situation.steps[: len(after)] if contender.one_by_one else situation.steps
            hits = sum(any(_same(text, want) for text, _ in after) for want in wanted)
            hit = bool(after) and hits * 2 >= len(wanted)
            right = (
                bool(after)
                and {status for _, status in after} <= {"pending", "in_progress"}
                and len(after) == len(wanted)
                and all(_same(text, want) for (text, _), want in zip(after, wanted, strict=True))
            )
        case "add":
            hit = any(_same(text, step) for text, _ in live)
            right = _equal(live, [*before, (step, "pending")])
        case "drop":
            hit = bool(live) and not any(_same(text, step) for text, _ in live)
            right = _equal(live, [item for item in before if item[0] != step])
        case _:
            hit = any(_same(text, step) and status == "completed" for text, status in live)
            done = [*before[:place], (step, "completed")]
            later = before[place + 1 :]
            started = [(text, "in_progress") for text, _ in later[:1]] + later[1:]
            right = _equal(live, [*done, *started]) or (
                contender.one_by_one and _equal(live, [*done, *later])
            )
    return "right" if right else "partly" if hit else "wrong"


def _equal(found: Sequence[Item], wanted: Sequence[Item]) -> bool:
    return len(found) == len(wanted) and all(
        _same(text, step) and status == word
        for (text, status), (step, word) in zip(found, wanted, strict=True)
    )


def _same(text: str, step: str) -> bool:
    """Return whether a text has all words of a step, and few others."""
    said, meant = _words(text), _words(step)
    return meant <= said and len(said) <= len(meant) + 4


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - {"the", "a", "an", "of", "to"}


def interval(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = share + z * z / (2 * count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    whole = 1 + z * z / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def tables(rows: Sequence[Row]) -> str:
    """Return the verdicts by tool set and by kind of situation, as Markdown."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["model"], row["style"], row["contender"]].append(row)
    kinds = [kind for kind in (*KINDS, *TRAPS) if any(row["kind"] == kind for row in rows)]
    verdicts = table(
        [
            *("model, style", "tools", "n", *VERDICTS, "harm", "right, 95 %"),
            *("in", "out", "s", "no answer"),
        ],
        (_line(*who, group) for who, group in groups.items()),
    )
    right = table(
        ["right + partly, of", "tools", *kinds],
        (
            [f"{model}, {style}", name, *(_share(group, kind) for kind in kinds)]
            for (model, style, name), group in groups.items()
        ),
    )
    return f"{verdicts}\n{right}"


def _line(model: str, style: str, name: str, group: list[Row]) -> list[str]:
    answered = [row for row in group if row["verdict"] != "no answer"]
    counts = [sum(row["verdict"] == verdict for row in answered) for verdict in VERDICTS]
    low, high = interval(counts[0], len(answered))
    harm = sum(row["harm"] for row in answered)
    return [
        f"{model}, {style}",
        name,
        *map(str, [len(answered), *counts, harm]),
        f"{low:.0%} to {high:.0%}",
        *(_mean(answered, key) for key in ("in", "out")),
        _mean(answered, "seconds", ".1f"),
        str(len(group) - len(answered)),
    ]


def _mean(rows: list[Row], key: str, form: str = ".0f") -> str:
    known = [row[key] for row in rows if row[key] is not None]
    return format(sum(known) / len(known), form) if known else ""


def _share(group: list[Row], kind: str) -> str:
    found = [row["verdict"] for row in group if row["kind"] == kind]
    return f"{found.count('right')} + {found.count('partly')}, {len(found)}"


# -- the command


def main(arguments: Sequence[str]) -> None:
    """Ask, save each answer as a line, and print the tables."""
    parser = _parser()
    given = parser.parse_args(arguments)
    known = contenders()
    names = given.only.split(",") if given.only else [*known]
    if given.again:
        print(tables([row for path in given.again for row in _saved(path)]))
        return
    if not given.base_url or not given.model:
        parser.error("--base-url and --model say whom to ask; --again asks nobody")
    if unknown := {*names} - {*known}:
        parser.error(f"no tool set is called {', '.join(sorted(unknown))}; {', '.join(known)} are")
    endpoint = Endpoint(
        given.base_url,
        given.model,
        given.style,
        given.key_variable,
        given.timeout,
        json.loads(given.body),
    )
    before = _saved(given.save) if given.save and given.save.exists() else []
    rows = [row for row in before if row["verdict"] != "no answer"]
    keys = ("model", "style", "seed", "contender", "kind", "number")
    answered = {tuple(row[key] for key in keys) for row in rows}
    silent = 0
    cases = situations(given.cases, given.seed, TRAPS if given.traps else KINDS)
    for contender in (known[name]() for name in names):
        for case in cases:
            place = (given.model, given.style, given.seed, contender.name, case.kind, case.number)
            if place in answered:
                continue
            row = {**asked(endpoint, contender, case), "seed": given.seed}
            rows.append(row)
            if given.save:
                with given.save.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            silent = silent + 1 if row["verdict"] == "no answer" else 0
            if silent == _LONGEST_SILENCE:
                print(tables(rows))
                sys.exit(f"no answer {silent} times in a row, the last time: {row['reason']}")
        print(f"{contender.name}: asked in {len(cases)} situations", file=sys.stderr, flush=True)
    print(tables(rows))


def _saved(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks understanding",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--base-url", default="", help="of an endpoint, such as http://localhost:8080/v1")
    add("--model", default="", help="the model's name there")
    add("--style", choices=STYLES, default="native")
    add("--key-variable", default="", help="name of the environment variable with the API key")
    add("--cases", type=int, default=50, help="situations for each tool set")
    add("--seed", type=int, default=1)
    add("--traps", action="store_true", help="steps added and dropped after others were done")
    add("--only", default="", help="tool sets: a,b,c")
    add("--timeout", type=float, default=300.0, help="seconds to wait for an answer")
    add("--body", default="{}", help="JSON merged into each request; null removes a field")
    add("--save", type=Path, help="append answers here as JSON lines; what is there is not asked")
    add("--again", type=Path, nargs="*", help="ask nothing: tables of saved answers")
    return parser
