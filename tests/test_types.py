"""The type checkers see a user's mistakes: a misspelled name, arguments in the wrong order."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRONG = sorted((ROOT / "tests" / "refused").glob("*.py"))


def _run(command):
    return subprocess.run(
        [sys.executable, *command], check=False, capture_output=True, text=True, cwd=ROOT
    )


def mypy_lines(path):
    """
    Return the lines in which mypy --strict finds an error.
    """
    command = ["-m", "mypy", "--strict", "--no-error-summary", str(path)]
    found = _run(command)
    errors = re.findall(rf"{path.name}:(\d+): error", found.stdout)
    return {int(line) for line in errors}, found.stdout + found.stderr


def pyright_lines(path):
    """
    Return the lines in which pyright finds an error.
    """
    command = ["-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(path)]
    found = _run(command)
    errors = json.loads(found.stdout)["generalDiagnostics"]
    lines = {one["range"]["start"]["line"] + 1 for one in errors if one["severity"] == "error"}
    return lines, found.stdout


@pytest.mark.parametrize("checker", [mypy_lines, pyright_lines])
@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_what_a_user_gets_wrong_is_a_type_error(checker, path):
    """Each marked line is refused by each type checker, and nothing beside them is."""
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    marked = {number for number, line in lines if line.endswith("# refused")}
    assert len(marked) > 5
    found, output = checker(path)
    assert found == marked, output
