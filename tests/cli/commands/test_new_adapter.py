"""`todoplan new-adapter`: files that say what to fill in, and pass the suite once they are."""

import ast
import os
import re
import shutil
import subprocess
import sys
from textwrap import dedent, indent

import pytest
from support import toy_loop

NAMES = ["test_todoplan_toy.py", "todoplan_toy.md", "todoplan_toy.py", "todoplan_toy_host.py"]
IMPORTS = {
    "todoplan_toy.py": "import json\nimport toy_loop\nfrom todoplan.dialogue import ToolResult\n",
    "todoplan_toy_host.py": "import attrs\nimport toy_loop\nfrom todoplan_toy import attach\n",
}
FILLED = {
    "name_of": "return agent.thread.name",
    "kept_of": "return json.loads(agent.thread.state.get(KEY, '{}'))",
    "keep": "agent.thread.state[KEY] = json.dumps(data)",
    "calls_of": "return [Call(**call) for call in message.get('calls', [])]",
    "message_of": """
        if message["role"] == "tool":
            name = names.get(message["call_id"], "")
            result = ToolResult(name, not message["is_error"], message["call_id"])
            return Message("tool", message["text"], results=(result,))
        calls = tuple(call.name for call in calls_of(message))
        return Message(message["role"], message["text"], calls, finish=message.get("finish", ""))
    """,
    "with_reminder": "return [*messages, {'role': 'user', 'text': text}]",
    "make_tool": """
        async def run(_, arguments, call_id):
            reply = await planning.answer(agent, Call(definition.name, arguments, call_id))
            return reply.text, reply.is_error

        return toy_loop.Tool(definition.name, definition.description, definition.schema, run)
    """,
    "attach": """
        agent.tools += make_tools(planning, agent)
        agent.prompt = f"{agent.prompt} {planning.system_prompt}"
        agent.before = lambda: planning.begin(agent)
        agent.after = lambda: planning.end(agent)
        agent.around = lambda messages, ask: planning.guided(agent, messages, ask)
        return agent
    """,
    "scripted": """
        async def model(messages, tools):
            turn = await script.areply(seen(messages), map(offered, tools))
            calls = [attrs.asdict(call) for call in turn.calls]
            ended = {"thoughts": turn.thoughts, "finish": turn.finish}
            return {"role": "assistant", "text": turn.text, "calls": calls, **ended}

        return model
    """,
    "seen": """
        for each in messages:
            if each["text"]:
                marks = each.get("call_id", ""), each.get("is_error", False)
                yield Seen(each["role"], each["text"], *marks)
    """,
    "offered": "return Definition(tool.name, tool.description, tool.schema)",
    "run_once": "await agent.run('go')\nreturn agent.thread.messages",
    "new_storage": "return toy_loop.Storage()",
    "agent": """
        made = toy_loop.Agent(scripted(script), self.storage.open(session))
        return attach(made, self.planning)
    """,
    "saved": "return self.storage.dumps()",
    "resume": "self.storage.loads(saved)",
}

MORE = """
import asyncio

import pytest
import toy_loop

from todoplan import MemoryStore, TodoplanError
from todoplan.core.commands import CreateTask
from todoplan_toy import Planning, edit_plan, history_of, plan_of_state, undo_plan


def change(planning, agent, *subjects):
    for subject in subjects:
        asyncio.run(edit_plan(planning, agent, CreateTask(subject), actor="ann"))
    asyncio.run(undo_plan(planning, agent, actor="bob"))


def test_an_edit_is_undone():
    planning, agent = Planning(), toy_loop.Agent(None, toy_loop.Thread("a"))
    change(planning, agent, "Sow", "Reap")
    assert [task.subject for task in plan_of_state(agent)] == ["Sow"]
    assert [entry.actor for entry in history_of(agent)] == ["ann", "ann", "bob"]


def test_a_store_has_a_plan_for_each_conversation():
    store = MemoryStore()
    planning, agent = Planning(store=store), toy_loop.Agent(None, toy_loop.Thread("a"))
    change(planning, agent, "Sow", "Reap")
    assert [task.subject for task in store.load("a")] == ["Sow"]
    with pytest.raises(TodoplanError, match="a store keeps the plan"):
        plan_of_state(agent)
"""
"""What the suite does not ask of the generated adapter."""


def ran(folder, *options):
    """Run the tests of a folder as its user would, and return what was printed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options]
    without = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=without
    )
    return done.stdout + done.stderr


def fill_in(file):
    """Put the code for the small framework where a file says what to fill in."""
    lines = file.read_text().splitlines()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [each for each in ast.walk(ast.parse(file.read_text())) if isinstance(each, functions)]
    filled = set()
    for function in sorted(found, key=lambda each: -each.lineno):
        blank = function.body[-1]
        if "FILL IN" in ast.unparse(blank):
            body = dedent(FILLED[function.name]).strip()
            lines[blank.lineno - 1 : blank.end_lineno] = [indent(body, " " * blank.col_offset)]
            filled.add(function.name)
    text = "\n".join(lines)
    file.write_text(
        text.replace("import annotations\n", f"import annotations\n{IMPORTS[file.name]}")
    )
    return filled


def test_four_files_are_written(invoke, tmp_path):
    """Into a folder that may not be there yet; it says what to do next."""
    folder = tmp_path / "new" / "adapter"
    result = invoke("new-adapter", "toy", "--dir", folder)
    assert result.exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    assert f"next: pytest -x {folder / 'test_todoplan_toy.py'}" in result.stdout
    assert "class TestToy(AdapterSuite)" in (folder / "test_todoplan_toy.py").read_text()


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".py")])
def test_what_is_imported_is_used(invoke, tmp_path, name):
    """Linters have nothing to say to the files of an adapter that has just begun."""
    invoke("new-adapter", "toy", "--dir", tmp_path)
    text = (tmp_path / name).read_text()
    nodes = [*ast.walk(ast.parse(text))]
    froms = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.name for node in froms for alias in node.names} - {"annotations"}
    assert imported
    exported = re.search(r"^__all__ = (\[.+?\])$", text, re.MULTILINE | re.DOTALL)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert imported <= used | {*(ast.literal_eval(exported[1]) if exported else ())}
    assert max(map(len, text.splitlines())) <= 100


def test_each_place_to_fill_in_is_named(invoke, tmp_path):
    """By a function of its own that says what it is to return."""
    invoke("new-adapter", "toy", "--dir", tmp_path)
    texts = "".join((tmp_path / name).read_text() for name in NAMES if name.endswith(".py"))
    named = re.findall(r'raise NotImplementedError\("FILL IN (?:Host\.)?(\w+): .+"\)', texts)
    assert sorted(named) == sorted(FILLED)


def test_nothing_is_overwritten(invoke, tmp_path):
    """All that is there is named, and nothing is written beside it."""
    (tmp_path / "todoplan_toy.py").write_text("mine")
    result = invoke("new-adapter", "toy", "--dir", tmp_path)
    assert result.exit_code == 2
    assert "todoplan_toy.py would be overwritten: choose another name or --dir" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["todoplan_toy.py"]


@pytest.mark.parametrize("name", ["my-loop", "2steps", "class", "a b", "../toy", ""])
def test_a_name_that_no_module_can_have_is_refused(invoke, tmp_path, name):
    """With one that can."""
    result = invoke("new-adapter", name, "--dir", tmp_path)
    assert result.exit_code == 2
    assert f"{name!r} cannot be part of a module's name" in result.stderr
    assert "such as my_framework" in result.stderr
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_is_named(invoke, tmp_path):
    """As the system says it."""
    (tmp_path / "file").write_text("")
    result = invoke("new-adapter", "toy", "--dir", tmp_path / "file")
    assert result.exit_code == 2
    assert f"cannot write {tmp_path / 'file'}: File exists" in result.stderr


@pytest.mark.slow
def test_its_tests_say_what_to_fill_in_and_then_pass(invoke, tmp_path):
    """One failure for each place; filled in for a small framework, everything passes."""
    invoke("new-adapter", "toy", "--dir", tmp_path)
    printed = ran(tmp_path)
    places = [*FILLED, *["the page"] * (tmp_path / "todoplan_toy.md").read_text().count("FILL IN")]
    assert f"{len(places)} failed" in printed
    assert " passed" not in printed
    for name in FILLED:
        assert re.search(
            rf"^todoplan_toy(_host)?\.py:\d+: FILL IN (Host\.)?{name}: \w", printed, re.MULTILINE
        )
    assert "todoplan_toy.py:" in ran(tmp_path, "-x")

    shutil.copy(toy_loop.__file__, tmp_path)
    (tmp_path / "test_more.py").write_text(MORE)
    assert set().union(*(fill_in(tmp_path / name) for name in IMPORTS)) == {*FILLED}
    page = tmp_path / "todoplan_toy.md"
    page.write_text(page.read_text().replace("FILL IN", ""))
    printed = ran(tmp_path, "-W", "error", "-rs")
    assert re.search(r"^\d{3} passed", printed, re.MULTILINE), printed
    assert "failed" not in printed
    assert {*re.findall(r"not declared: (\w+)", printed)} <= {"LIVE_EDITS", "RETURNS"}
