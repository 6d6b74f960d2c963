"""The entry, within this process; and how commands end."""

import io
import os
import runpy
import sys
from importlib.metadata import version

import pytest

from todoplan import __main__ as entry
from todoplan.cli import hook
from todoplan.cli.exits import exit_code_of


def run(monkeypatch, *arguments):
    """Call `main` with these arguments and give the exit code."""
    monkeypatch.setattr(sys, "argv", ["todoplan", *arguments])
    with pytest.raises(SystemExit) as left:
        entry.main()
    return left.value.code


def failing(error):
    """An importer that raises."""

    def importer(_name):
        raise error

    return importer


def test_main_runs_the_app(monkeypatch, capsys):
    """The exit code is the command's."""
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"{version('todoplan')}\n"


def test_a_hook_takes_the_short_way(monkeypatch):
    """It needs none of the libraries of the command line; its help does."""
    asked = []
    monkeypatch.setattr(hook, "run", asked.append)
    assert run(monkeypatch, "hook", "show") == run(monkeypatch, "hook") == 0
    assert asked == [["show"], []]
    assert run(monkeypatch, "hook", "--help") == 0
    assert len(asked) == 2


def test_stdout_replaces_what_it_cannot_encode(monkeypatch):
    """A text that the encoding lacks is no error."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert run(monkeypatch, "--version") == 0
    assert stream.errors == "replace"


def test_any_stream_will_do(monkeypatch):
    """A stdout that cannot be told how to encode is taken as it is."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert run(monkeypatch, "--version") == 0
    assert sys.stdout.getvalue() == f"{version('todoplan')}\n"


def test_the_module_can_be_run(monkeypatch, capsys):
    """`python -m todoplan` is `main`."""
    monkeypatch.setattr(sys, "argv", ["todoplan", "--version"])
    monkeypatch.delitem(sys.modules, "todoplan.__main__")
    with pytest.raises(SystemExit) as left:
        runpy.run_module("todoplan", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"{version('todoplan')}\n"


def test_a_missing_extra_is_told(monkeypatch, capsys):
    """Exit code 2, and the pip command on stderr."""
    error = ModuleNotFoundError("no", name="rich.console")
    monkeypatch.setattr(entry.importlib, "import_module", failing(error))
    assert run(monkeypatch) == 2
    assert capsys.readouterr().err.endswith("needs rich.console: pip install 'todoplan[cli]'\n")


@pytest.mark.parametrize("error", [ImportError("no"), ModuleNotFoundError("no", name="todoplan.x")])
def test_another_import_error_is_a_defect(monkeypatch, error):
    """It is not blamed on the extra."""
    monkeypatch.setattr(entry.importlib, "import_module", failing(error))
    monkeypatch.setattr(sys, "argv", ["todoplan"])
    with pytest.raises(ImportError):
        entry.main()


def test_ctrl_c_while_importing_is_quiet(monkeypatch, capsys):
    """Exit code 130, nothing said."""
    monkeypatch.setattr(entry.importlib, "import_module", failing(KeyboardInterrupt()))
    assert run(monkeypatch) == 130
    assert capsys.readouterr().err == ""


def interrupted(_):
    """Act as a job that is ended by Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("job", "code"), [(lambda _: 0, 0), (lambda _: None, 0), (lambda _: 2, 2), (interrupted, 130)]
)
def test_the_code_is_the_job_s(job, code):
    """A job's own code, or that of an interruption."""
    assert exit_code_of(job) == code


def test_a_closed_pipe_is_141(monkeypatch):
    """What is still buffered is dropped without a complaint."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert exit_code_of(lambda _: stream.write("words") and 0) == 141
        stream.write("more words")
