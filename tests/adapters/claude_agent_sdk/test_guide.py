"""The guide claude-agent-sdk.md keeps its word: its code runs and prints what it shows."""

import asyncio
from functools import partial

import claude_agent_sdk
from support.claude_agent_sdk_cli import ScriptedCLI
from support.docs import defined
from support.letter import LETTER, SHOWN


def test_a_run_prints_what_is_shown_and_is_edited(capsys, tmp_path, monkeypatch):
    """An early answer goes back; a person's edit stands in the plan that the run has left."""
    monkeypatch.chdir(tmp_path)
    playing = partial(claude_agent_sdk.query, transport=ScriptedCLI(*LETTER, session="s7"))
    monkeypatch.setattr(claude_agent_sdk, "query", playing)
    names = defined("claude-agent-sdk", "claude-agent-sdk")
    session = asyncio.run(names["work"]("Draft and send the letter."))
    assert capsys.readouterr().out == SHOWN
    edited = defined("claude-agent-sdk", "claude-agent-sdk edit", **names)
    assert asyncio.run(edited["tell"](session)) == [None, None, None, "ann"]
