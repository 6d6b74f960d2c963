"""The built wheel alone, without extras: the core and what stands on it work, the rest says why."""

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import todoplan
from todoplan.adapters.functions import openai_chat
from todoplan.board.bundle import app_page, report_scripts
from todoplan.codec import dump_plan, load_plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.render.markup import style

assert Path(sys.prefix) in Path(todoplan.__file__).parents, "this is not the installed wheel"
assert (Path(todoplan.__file__).parent / "py.typed").is_file(), "the wheel is not typed"
guides = Path(todoplan.__file__).parent / "guides"
assert len(list(guides.glob("*.md"))) > 15, "the wheel has no guides"
assert (guides / "replay.svg").is_file(), "the wheel has no picture"
assert "color-scheme" in style(), "the wheel has no style sheet"
static = Path(todoplan.__file__).parent / "board" / "static"
assert {"index.html", "main.js", "board.css"} <= {file.name for file in static.iterdir()}
assert len(report_scripts()[0]) > 40_000, "the wheel has no layout for graphs"
assert "ui/initialize" in app_page("todoplan://plan/plan", "1"), (
    "the wheel has no page for MCP hosts"
)
assert not {"typer", "rich", "ijson"} & {name.partition(".")[0] for name in sys.modules}
assert [need for need in requires("todoplan") or [] if "extra" not in need]

planner = todoplan.Planner(toolbox=Toolbox(LEAN))
assert planner.call("plan", {"write": ["Write", "Test"]}).text.startswith("0/2: #1-#2 created")
assert load_plan(dump_plan(planner.plan)) == planner.plan
assert openai_chat.make_tools(LEAN)

answer = subprocess.run(
    [sys.executable, "-I", "-m", "todoplan", "replay", "--sample"],
    capture_output=True,
    text=True,
    check=False,
)
assert answer.returncode == 2, answer
assert "pip install 'todoplan[cli]'" in answer.stderr, answer
assert "Traceback" not in answer.stderr, answer

sys.stdout.write("1 passed, 0 failed\n")
