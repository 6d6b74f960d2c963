"""The guides on LangChain and DeepAgents: the code runs as shown, its output is what it prints."""

import re

from support.docs import page
from support.scripted import Scripted, says, wrote

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
    """
    Yield each `>>>` statement of a block and what is shown under it.
    """
    for statement, shown in re.findall(r">>> (.*(?:\n\.\.\. .*)*)\n((?:(?!>>> ).*\n)*)", block):
        yield statement.replace("\n... ", "\n"), shown.strip()


def test_the_sections_run_from_top_to_bottom(capsys, tmp_path):
    """
    One after the other, each with a scripted model of its own.
    """
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
    """
    Beside the imports.
    """
    raw = next(block for block in BLOCKS if "StateGraph" in block)
    code = [line for line in raw.splitlines() if line and "import" not in line]
    assert len(code) <= 10
