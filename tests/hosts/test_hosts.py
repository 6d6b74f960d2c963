"""
The plugin in the real Claude Code and Codex, against a scripted model: each script ends in the
right plan. `python -m tests.hosts --all` plays the scripts in the other coding agents too.
"""

import pytest
from hosts.agents import HOSTS, Place
from hosts.installing import MissingHostError, installed
from hosts.playing import begin, play
from hosts.scripts import SCRIPTS, Script, Step, Turn
from support.tokens import tokens

pytestmark = pytest.mark.slow


@pytest.fixture(params=["claude", "codex"])
def host(request):
    """A host and its command line."""
    return program_of(request.param)


def program_of(name):
    """Return a host and its command line, or skip where it is not installed."""
    try:
        return HOSTS[name], installed(HOSTS[name])
    except MissingHostError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_in_the_right_plan(host, name, tmp_path):
    """And the model is shown what the script says."""
    if name in host[0].cannot:
        pytest.skip(host[0].cannot[name])
    played = play(*host, SCRIPTS[name], tmp_path)
    assert not played.faults(SCRIPTS[name])


def test_planning_costs_less_than_with_the_host_s_own_tool(host, tmp_path):
    """In what the model reads at the end of the conversation; the reminders are counted."""
    work = SCRIPTS["work"]
    ours, own = (
        play(*host, work, tmp_path / planning, planning).requests[-1]
        for planning in ("ours", "own")
    )
    assert tokens(ours.shown()) < tokens(own.shown())


def test_claude_code_takes_the_folder_for_a_plugin(tmp_path):
    """By its own check."""
    host, program = program_of("claude")
    run = begin(host, program, Place(tmp_path, "http://127.0.0.1:9"))
    done = run("plugin", "validate", tmp_path / "plugin")
    assert done.returncode == 0, done.stdout


def test_a_person_sees_the_plan_in_claude_code(tmp_path):
    """By a command of the plugin, which shows the plan of the session."""
    host, program = program_of("claude")
    plan = SCRIPTS["plan"].conversations[0]
    shown = Turn("/todoplan:plan", (Step("Here is the garden."),))
    script = Script(((*plan, shown),), SCRIPTS["plan"].ends, reads=("[~] 1 Dig the beds",))
    assert not play(host, program, script, tmp_path).faults(script)
