"""The options: what is documented, what is refused."""

import sys
from importlib.metadata import version
from typing import Any

import pytest
import typer

from todoplan.cli.app import _OTHER_NAMES, COMMANDS, make_app, run
from todoplan.cli.options import AUDITS, OPTIONS, SHOWN_FORMS, SORT_KEYS
from todoplan.cli.views import PRINTERS
from todoplan.transcripts.commands import SORTS
from todoplan.transcripts.replay import POLICIES

NAMES = tuple({name.split()[0]: None for names in COMMANDS.values() for name in names})


def whole() -> Any:
    """The command of the application with all commands."""
    return typer.main.get_command(make_app())


def test_every_command_and_option_is_documented():
    """No command, argument or option is without a help text."""
    group = whole()
    assert sorted(group.commands) == sorted(NAMES)
    for command in (group, *group.commands.values()):
        assert command.help
        for parameter in command.params:
            assert parameter.help, (command.name, parameter.name)


@pytest.mark.parametrize("command", ["", *NAMES])
def test_help_names_every_parameter(invoke, command):
    """`--help` ends with 0 and shows each option by name."""
    result = invoke(*filter(None, [command]), "--help")
    assert result.exit_code == 0
    group = whole()
    for parameter in (group.commands[command] if command else group).params:
        name = [*parameter.opts, *parameter.secondary_opts][0]
        shown = name if name.startswith("-") else parameter.metavar
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
    assert "Change the plan:" in invoke().output


def test_every_option_of_the_table_is_one_of_a_command():
    """None is left over, and none of one function alone is misspelled."""
    made = whole()
    groups = (made, made.commands["store"])
    helps = {
        parameter.help
        for group in groups
        for command in group.commands.values()
        for parameter in command.params
    }
    assert {each.help for each in OPTIONS.values()} <= helps


def test_the_names_that_options_allow_are_those_of_the_commands():
    """They stand in the command line too, so that it starts without the modules for recordings."""
    assert (*AUDITS,) == (*POLICIES,)
    assert (*SORT_KEYS,) == (*SORTS,)
    assert ("text", *PRINTERS) == SHOWN_FORMS


@pytest.mark.parametrize("line", [["--help"], ["-h"], ["--no-such"], ["paint"], []])
def test_help_and_mistakes_are_those_of_the_whole_application(line, monkeypatch, capsys):
    """They are printed from the docstrings alone, and as by the application with all options."""
    monkeypatch.setattr(sys, "argv", ["todoplan", *line])
    with pytest.raises(SystemExit) as long:
        make_app()(prog_name="todoplan")
    printed = capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        run(line)
    assert (left.value.code, capsys.readouterr()) == (long.value.code, printed)


@pytest.mark.parametrize("line", [["--", "paint"], ["--", "where"]])
def test_a_command_behind_dashes_is_carried_out(line, monkeypatch, capsys):
    """No line that names a command ends without it."""
    monkeypatch.setattr(sys, "argv", ["todoplan", *line])
    with pytest.raises(SystemExit) as left:
        run(line)
    assert (left.value.code == 0) is ("where" in line)
    assert ("plan" in capsys.readouterr().out) is ("where" in line)


def test_a_name_that_other_tools_have_for_a_command_is_explained(invoke):
    """Without a command for each of them."""
    for name, ours in _OTHER_NAMES.items():
        result = invoke(name, "1")
        assert result.exit_code == 2
        assert f"No such command '{name}'. Write: todoplan {ours}" in result.stderr
        assert ours.partition(" ")[0] in {*COMMANDS_BY_NAME, "--help", "--version"}
    assert "Did you mean" in invoke("lisst").stderr


COMMANDS_BY_NAME = {name for group in COMMANDS.values() for name in group}
