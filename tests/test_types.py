"""The type checkers see a user's mistakes: a misspelled name, arguments in the wrong order."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
WRONG = sorted((ROOT / "tests" / "refused").glob("*.py"))


def _run(command):
    return subprocess.run(
        [sys.executable, *command], check=False, capture_output=True, text=True, cwd=ROOT
    )


def mypy_lines():
    """Return (file, line) of each error that mypy --strict finds, and all that it prints."""
    ran = _run(["-m", "mypy", "--strict", "--no-error-summary", *map(str, WRONG)])
    errors = re.findall(r"(\w+\.py):(\d+): error", ran.stdout)
    return {(name, int(line)) for name, line in errors}, ran.stdout + ran.stderr


def pyright_lines():
    """Return (file, line) of each error that pyright finds, and all that it prints."""
    options = ["--outputjson", "--pythonpath", sys.executable]
    ran = _run(["-m", "pyright", *options, *map(str, WRONG)])
    errors = [e for e in json.loads(ran.stdout)["generalDiagnostics"] if e["severity"] == "error"]
    lines = {(Path(e["file"]).name, e["range"]["start"]["line"] + 1) for e in errors}
    return lines, ran.stdout


@pytest.mark.parametrize("checker", [mypy_lines, pyright_lines])
def test_what_a_user_gets_wrong_is_a_type_error(checker):
    """Each marked line is refused by each type checker, and nothing beside them is."""
    found, output = checker()
    for path in WRONG:
        lines = enumerate(path.read_text("utf-8").splitlines(), 1)
        marked = {(path.name, number) for number, line in lines if line.endswith("# refused")}
        assert len(marked) > 5
        assert {each for each in found if each[0] == path.name} == marked, output
    assert {name for name, _ in found} == {path.name for path in WRONG}, output
