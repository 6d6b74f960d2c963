"""The extra: not loaded by `import todoplan`, named when it is missing."""

import runpy
import subprocess
import sys

import pytest

from todoplan.adapters import langgraph
from todoplan.errors import MissingExtraError

MISSING = """
import sys
sys.modules[sys.argv[1]] = None
try:
    import todoplan.adapters.langgraph
except ImportError as error:
    print(type(error).__name__, error, error.data["missing"])
"""


@pytest.mark.parametrize("name", ["langchain", "langgraph"])
def test_a_missing_extra_is_named(name):
    """
    The error is ours, and says the pip command.
    """
    done = subprocess.run(
        [sys.executable, "-c", MISSING, name], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("MissingExtraError")
    assert "pip install 'todoplan[langgraph]'" in done.stdout
    assert done.stdout.split()[-1] == name


def test_the_package_comes_without_it():
    """
    `import todoplan` and its adapters' folder load nothing of LangChain's.
    """
    code = "import sys, todoplan.adapters; print([m for m in sys.modules if m.startswith('lang')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_error_is_a_missing_extra(monkeypatch):
    """
    It is an ImportError as well, with the name of what is missing.
    """
    monkeypatch.setitem(sys.modules, "langchain", None)
    with pytest.raises(MissingExtraError, match="todoplan") as caught:
        runpy.run_path(langgraph.__file__)
    assert caught.value.data == {"missing": "langchain", "extra": "langgraph"}
    assert isinstance(caught.value, ImportError)
