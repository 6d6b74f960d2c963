"""A script is played in a coding agent: what the model was shown, and which plans there are."""

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import attrs
from hosts.agents import Place
from hosts.model import Answer, Call, Request, answering
from hosts.scripts import COMPACT, HELPER, MARKS, TASKS

from todoplan import Planner
from todoplan.core.commands import CreateTask
from todoplan.errors import StoreError
from todoplan.stores.sqlite import SqliteStore

_OURS = re.compile(r"plan[_-]+plan$")
_SEARCH = ("ToolSearch", "tool_search")
_DEFERRED = "tool_call"  # Qwen Code calls by this tool what it has not offered, after a search
_RESULT = "complete_task"  # a subagent of Gemini CLI hands its result over by this tool
# A request for a summary offers the tools, and forbids to call them.
_SUMMARY = re.compile(r"(?i)text only|detailed summary|handoff summary|checkpoint|<state_snapshot>")
_ICONS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}
_SECONDS = 120


@attrs.frozen
class Played:
    """
    What came of a script: the plans by their tasks, the requests of the main agent, the steps that
    were left, the number of requests beyond the script, and the exit codes.
    """

    plans: tuple[tuple[str, ...], ...]
    requests: tuple[Request, ...]
    left: int
    beyond: int
    codes: tuple[int, ...]

    def faults(self, script):
        """Return what is not as the script says."""
        each_told = [json.dumps(each.messages(), ensure_ascii=False) for each in self.requests]
        told, last = "\n".join(each_told), "".join(each_told[-1:])
        found = [f"never shown: {text}" for text in script.reads if text not in told]
        found += [f"shown: {text}" for text in script.misses if text in told]
        found += [f"shown at the end: {text}" for text in script.forgets if text in last]
        if [*map(sorted, self.plans)] != [*map(sorted, script.ends)]:
            found.append(f"plans {self.plans}")
        if self.left or self.beyond:
            found.append(f"{self.left} steps left, {self.beyond} requests beyond")
        return found + ([f"exit codes {self.codes}"] if any(self.codes) else [])


class Player:
    """The model: plays the steps of each conversation, and answers "ok" to whatever else comes."""

    def __init__(self, host, script, planning, act):
        self.host, self.planning, self.act = host, planning, act
        self.lanes = {HELPER: [*script.helper]}
        for mark, turns in zip(MARKS, script.conversations, strict=False):
            self.lanes[mark] = [step for turn in turns for step in turn.steps]
        self.requests, self.beyond, self.searched = [], 0, []

    def __call__(self, request):
        told = json.dumps(request.messages())
        names = request.offered()
        last = json.dumps(request.messages()[-1:])
        # The main agent has asked the subagent, so its conversation has both words.
        lane = next((mark for mark in (*MARKS, HELPER) if mark in told), None)
        if lane is None or not names or _SUMMARY.search(last):
            return Answer("The garden and the kitchen are being done.")
        steps = self.lanes[lane]
        if steps and steps[0].waits and self.lanes[HELPER]:
            return None
        self.requests.append(request)
        if not steps:
            self.beyond += 1
            return Answer("ok")
        if (search := self._search(names, steps[0])) and search not in self.searched:
            self.searched.append(search)
            return Answer(calls=(search,))
        step = steps.pop(0)
        if step.act:
            self.act(step.act)
        calls = [call for each in step.calls for call in self._made(each, names)]
        if lane == HELPER and not calls and (None, _RESULT) in names:
            calls = [Call(_RESULT, {"result": step.say})]
        return Answer(step.say, tuple(calls), step.usage)

    def _search(self, names, step):
        """Return a call that loads the tools of a step, where the host shows none before."""
        made = [call.name for each in step.calls for call in self._made(each, names)]
        wanted = [self.host.tool if name == _DEFERRED else name for name in made]
        found = [name for _, name in names if name in _SEARCH]
        if not found or {*wanted} <= {name for _, name in names} | {"Bash"}:
            return None
        query = ",".join(dict.fromkeys(wanted))
        return Call(found[0], {"query": f"select:{query}", "max_results": 5})

    def _ours(self, names):
        for namespace, name in names:
            if _OURS.search(f"{namespace or ''}__{name}"):
                return namespace, name
        return None

    def _made(self, call, names):
        kind, given = call
        if kind == "shell":
            return [self.host.shell(f"echo {given}")]
        if kind == "agent":
            return [self.host.agent(given)]
        if self.planning == "none":
            return []
        if self.planning == "own":
            return self.host.own(TASKS, given)
        if kind == "tick":
            given = {"done": [given]} if given else {"write": [*TASKS]}
        if found := self._ours(names):
            return [Call(found[1], given, found[0])]
        if (None, _DEFERRED) in names:
            return [Call(_DEFERRED, {"name": self.host.tool, "arguments": given})]
        return [Call(self.host.tool, given)]


def begin(host, program, place):
    """Make the folders and the plugin of a run; return a function that runs the program in them."""
    place.home.mkdir(parents=True)
    (place.work / ".git").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(place.home), "TERM": "dumb"}
    env |= {"LANG": "C.UTF-8", **host.environment(place)}

    def run(*line, program=program):
        line = ["timeout", _SECONDS, *program, *line]  # its exit code is 124 at the end of the time
        return subprocess.run(
            [str(part) for part in line],
            cwd=place.work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    if place.planning == "ours":
        ours = [sys.executable, "-m", "todoplan"]
        done = run("plugin", "--host", host.form, place.plugin, program=ours)
        assert done.returncode == 0, done.stderr
    return run


def play(host, program, script, folder, planning="ours", *, act=None):  # noqa: PLR0913 - a run
    """
    Play a script in a host, in a folder that is to hold its home, the project and the plugin. `act`
    does in the project what a person does; else a task is added.
    """
    act = act or _edit
    player = Player(host, script, planning, lambda text: act(folder / "work", text))
    with answering(player) as address:
        place = Place(folder, address, planning)
        run = begin(host, program, place)
        if script.wreck == "hook":
            _kill_hooks(place.plugin)
        elif script.wreck == "store":
            place.write("work/.todoplan/plans.db", "no database")
        for line in host.prepare(place):
            done = run(*line)
            assert done.returncode == 0, done.stdout + done.stderr

        def hold(turns):
            for number, turn in enumerate(turns):
                if turn.act:
                    act(folder / "work", turn.act)
                prompt = host.compact if turn.prompt == COMPACT else turn.prompt
                if prompt:
                    yield run(*host.arguments(place, prompt, again=number > 0))

        with ThreadPoolExecutor(len(script.conversations)) as pool:
            held = [*pool.map(lambda turns: [*hold(turns)], script.conversations)]
        _end_daemons(place.home)
    runs = [run for conversation in held for run in conversation]
    for number, request in enumerate(player.requests):
        place.write(f"requests/{number:02}.json", request.body)
    place.write("output.txt", "\n".join(each.stdout + each.stderr for each in runs))
    return Played(
        _plans(folder),
        tuple(player.requests),
        sum(map(len, player.lanes.values())),
        player.beyond,
        tuple(each.returncode for each in runs),
    )


def _end_daemons(home):
    """End what an agent has left running in this home, as Cline does."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it belongs to somebody else, or has ended
            if f"HOME={home}".encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGTERM)


def _store(work):
    return SqliteStore(work / ".todoplan" / "plans.db")


def _edit(work, text):
    """Add a task as a person does, in the plan that there is."""
    (plan_id,) = _store(work).plan_ids()
    Planner(_store(work), plan_id).apply(CreateTask(text), actor="ann").unwrap()


def _plans(folder):
    found = []
    if (folder / "work" / ".todoplan" / "plans.db").exists():
        with suppress(StoreError):
            store = _store(folder / "work")
            for plan_id in store.plan_ids():
                plan = Planner(store, plan_id).plan
                found.append(tuple(f"{_ICONS[task.status]} {task.subject}" for task in plan))
    return tuple(sorted(found))


def _kill_hooks(plugin):
    """Put a command that is killed in the place of each hook."""
    for path in plugin.rglob("*.json"):
        text = re.sub(r'"command": "[^"]* hook"', '"command": "kill -9 $$"', path.read_text())
        path.write_text(text)
