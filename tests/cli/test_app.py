"""The options: what is documented, what is refused."""

from importlib.metadata import version

import pytest
import typer

from todoplan.cli.app import app
from todoplan.cli.plans import PLAN_COMMANDS

COMMANDS = (
    "replay",
    "stats",
    "show",
    "schema",
    "guide",
    "mcp",
    *PLAN_COMMANDS,
    "board",
    "report",
    "store",
)


def test_every_command_and_option_is_documented():
    """No command, argument or option is without a help text."""
    group = typer.main.get_command(app)
    assert tuple(group.commands) == COMMANDS
    for command in (group, *group.commands.values()):
        assert command.help
        for parameter in command.params:
            assert parameter.help, (command.name, parameter.name)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_names_every_parameter(invoke, command):
    """`--help` ends with 0 and shows each option by name."""
    result = invoke(*filter(None, [command]), "--help")
    assert result.exit_code == 0
    group = typer.main.get_command(app)
    for parameter in (group.commands[command] if command else group).params:
        shown = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar
        assert shown in result.stdout


def test_version_is_the_package_s(invoke):
    """`--version` prints the installed version."""
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"{version('todoplan')}\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["replay"], "--sample"),
        (["replay", "x.jsonl", "--sample"], "--sample"),
        (["replay", "--sample", "--json", "--markdown"], "give one of --json"),
        (["replay", "--sample", "--json", "--html", "x.html"], "give one of --json"),
        (["replay", "--sample", "--policy", "lax"], "'lax' is none of audit, default"),
        (["replay", "--sample", "--dialect", "klingon"], "'klingon' is none of todoplan"),
        (["stats"], "Missing argument"),
        (["show", "x.json", "--format", "pdf"], "'pdf' is none of text, markdown"),
        (["schema", "jira"], "'jira' is none of todos, tasks"),
        (["schema", "todos", "--format", "xml"], "'xml' is none of plain, openai"),
        (["paint"], "paint"),
    ],
)
def test_wrong_use_is_exit_2_with_a_reason(invoke, arguments, reason):
    """A mistake on the command line is said on stderr, without a traceback."""
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_without_a_command_the_help_is_shown(invoke):
    """`todoplan` alone says what there is."""
    assert "Commands:" in invoke().output
