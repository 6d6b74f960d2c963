"""
Talks, word for word: calls and their replies, in the files of `talks`.

A talk has a title, the sentence that is its law, and calls. A call is the name of a tool and its
arguments as JSON text. Its reply stands below, indented, on one line if it is short. The name says
which tool set is meant. Each call goes on with the plan of the call before it. Before a call may
stand who makes it, and how many minutes after the start: `ann+5: TaskList`. Who has a name is a
session: it holds fences, and knows of the plan what its own replies have shown (law 15).

- `:plan a, b` is a plan of these pending tasks, `:keep` remembers a plan, `:back` returns to it;
- `:approve ann` approves the plan, and `:rule NAME LEVEL` is a rule of the policy from there on;
- `:team` and `:snake` take the tool sets for a team, or with keys in snake case;
- `:say_done` and `:show_list` are options of the toolbox.

With `TODOPLAN_UPDATE_SNAPSHOTS=1` the replies are written anew: read the difference.
"""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.talk import check_reply, planned

from todoplan import DEFAULT, TODOS, Plan, Toolbox, decide
from todoplan.core.commands import ApprovePlan
from todoplan.core.events.base import Base
from todoplan.dialogue import lean, tasks
from todoplan.dialogue.toolbox import fences_after

FILES = sorted((Path(__file__).parent / "talks").glob("*.txt"))
UPDATE = "TODOPLAN_UPDATE_SNAPSHOTS" in os.environ
SHORT = 160
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CALL = re.compile(r"(?:(\w+)(?:\+(\d+))?: )?(\w+)(?: (.*))?", re.DOTALL)


class Talk:
    """The plan and the sessions of a talk."""

    def __init__(self):
        self.plan = self.kept = Plan()
        self.bases, self.fences = {}, {}
        self.options, self.policy, self.keys, self.team = {}, DEFAULT, "camel", False

    def does(self, name, *words):
        """Carry out a line that begins with a colon."""
        if name == "plan":
            self.plan, self.bases = planned(*" ".join(words).split(", ")), {}
        elif name == "keep":
            self.kept = self.plan
        elif name == "back":
            self.plan = self.kept
        elif name == "rule":
            self.policy = self.policy.but(**{words[0]: words[1]})
        elif name == "approve":
            self.plan = decide(self.plan, ApprovePlan(words[0])).unwrap()
        elif name == "team":
            self.team = True
        elif name == "snake":
            self.keys = "snake"
        else:
            self.options[name] = True

    def box(self, tool):
        """Return the toolbox that has this tool."""
        if tool.endswith("_todos"):
            toolset = TODOS
        elif tool == "plan":
            toolset = lean(team=self.team)
        else:
            toolset = tasks(self.keys, team=self.team)
        return Toolbox(toolset, self.policy, **self.options)

    def says(self, actor, minutes, tool, arguments):
        """Return the reply to a call; whoever else has a name has then something to hear."""
        before, at = self.plan, NOON + timedelta(minutes=int(minutes or 0))
        known = (
            {} if actor is None else {"actor": actor, "fences": self.fences.setdefault(actor, {})}
        )
        if actor is not None:
            known["base"] = self.bases.setdefault(actor, Base(before))
        reply = self.box(tool).call(before, tool, arguments, at=at, **known)
        check_reply(before, reply)
        self.plan = reply.plan
        for other, base in self.bases.items():
            if other != actor:
                self.bases[other] = base.after(reply.events, actor)
        if actor is not None:
            self.fences[actor] = fences_after(self.fences[actor], reply.events)
            if not reply.is_error:
                self.bases[actor] = self.bases[actor].advanced(before, reply.plan, [reply.note])
        return reply


def held(text):
    """Return a talk as it is written, with the replies that are given now."""
    talk, lines = Talk(), []
    for line in text.splitlines():
        if line.startswith("  "):
            continue
        lines.append(line)
        if line.startswith(":"):
            talk.does(*line[1:].split())
        elif line and not line.endswith("."):
            reply = talk.says(*CALL.fullmatch(line).groups())
            shown = reply.text.replace("\n", " | ")
            lines.append(
                f"  {shown}" if len(shown) < SHORT else f"  {reply.text}".replace("\n", "\n  ")
            )
    return "\n".join(lines)


def talks(path):
    """Return the talks of a file by title."""
    named = (part.partition(" ==\n") for part in f"\n{path.read_text('utf-8')}".split("\n== ")[1:])
    return {title: body.strip("\n") for title, _, body in named}


CASES = [(path, title) for path in FILES for title in talks(path)]


@pytest.mark.parametrize(("path", "title"), CASES, ids=[f"{p.stem}: {t}" for p, t in CASES])
def test_a_talk_goes_as_it_is_written(path, title):
    """Each reply, word for word, and what every reply keeps."""
    text = talks(path)[title]
    if UPDATE:
        path.write_text(path.read_text("utf-8").replace(text, held(text)), "utf-8")
    else:
        assert held(text) == text
