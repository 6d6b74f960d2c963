"""The guides on LangChain and DeepAgents run as shown, and so does the example agent."""

import re
import runpy
import sys

import pytest
from langchain_core.messages import AIMessage
from support import langgraph_example as example
from support.docs import page
from support.scripted import Scripted, says, wrote

from todoplan.errors import MissingExtraError

TEXT = page("langchain") + page("deepagents")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def model():
    return Scripted(
        script=[
            wrote(("Write it", "in_progress"), ("Test it", "pending"), call_id="1"),
            wrote(("Write it", "completed"), ("Test it", "completed"), call_id="2"),
            says("The parser is in."),
        ]
    )


def expressions(block):
    """Yield each `>>>` statement of a block and what is shown under it."""
    for statement, shown in re.findall(r">>> (.*(?:\n\.\.\. .*)*)\n((?:(?!>>> ).*\n)*)", block):
        yield statement.replace("\n... ", "\n"), shown.strip()


def test_the_sections_run_from_top_to_bottom(capsys, tmp_path):
    """One after the other, each with a scripted model of its own."""
    names = {"model": model(), "folder": tmp_path}
    for block in BLOCKS:
        if "StateGraph" in block or "store = " in block:
            names["model"] = model()
        if ">>> " not in block:
            exec(block, names)  # noqa: S102 - our own text
            continue
        for statement, shown in expressions(block):
            code = compile(statement, "snippet", "single")
            exec(code, names)  # noqa: S102 - our own text
            said = [line.rstrip() for line in capsys.readouterr().out.strip().splitlines()]
            assert said == shown.splitlines()


def test_the_graph_by_hand_is_ten_lines():
    """Beside the imports."""
    raw = next(block for block in BLOCKS if "StateGraph" in block)
    code = [line for line in raw.splitlines() if line and "import" not in line]
    assert len(code) <= 10


SECOND = [
    "A second process, from the checkpoint:",
    "  ai: weather({'city': 'Rome'})",
    "  tool: 18 degrees, sun",
]


@pytest.mark.slow
def test_a_crash_and_a_resume():
    """The second process goes on from the file: it looks up Rome and finishes the plan."""
    said = []
    example.main([], said.append)
    assert said[2] == "It died: ConnectionError: the network is down"
    assert said[3:6] == SECOND
    assert said[-1].splitlines() == [
        "#1 [completed] Look up Oslo",
        "#2 [completed] Look up Rome",
        "#3 [completed] Compare the two",
    ]


def test_the_first_process(tmp_path):
    """It plans, works, and fails for want of a network."""
    said = []
    with pytest.raises(ConnectionError):
        example.main([str(tmp_path / "plans"), "--first"], said.append)
    assert said[0].startswith("  ai: plan(")
    assert said[-1].endswith("#2 started")


def test_a_real_model(monkeypatch, tmp_path):
    """The one that is named does the work."""
    asked = []

    def init(name):
        asked.append(name)
        return Scripted(script=[AIMessage("It is cold.")])

    monkeypatch.setenv("TODOPLAN_MODEL", "some:model")
    monkeypatch.setattr(example, "init_chat_model", init)
    said = []
    example.main([str(tmp_path / "plans")], said.append)
    assert (asked, said[0]) == (["some:model"], "  ai: It is cold.")


def test_without_the_checkpointer_the_message_says_what_to_install(monkeypatch, tmp_path):
    """It is no part of the extra."""
    monkeypatch.setitem(sys.modules, "langgraph.checkpoint.sqlite", None)
    with pytest.raises(MissingExtraError, match="langgraph-checkpoint-sqlite"):
        example.main([str(tmp_path / "plans"), "--first"])


def test_it_runs_as_a_module(monkeypatch, tmp_path):
    """The command line's arguments are its own."""
    monkeypatch.setattr(sys, "argv", ["example", str(tmp_path / "plans"), "--first"])
    with pytest.raises(ConnectionError):
        runpy.run_path(example.__file__, run_name="__main__")
