"""An adapter's extra: named where its framework is missing, never loaded by others."""

import subprocess
import sys

import pytest

from todoplan.errors import MissingExtraError

# The adapter, what its import misses first, and the extra that brings it.
MISSING = [
    ("acp", "acp", "acp"),
    ("ag_ui", "ag_ui.core", "ag-ui"),
    ("agent_framework", "agent_framework", "agent-framework"),
    ("agentscope", "agentscope", "agentscope"),
    ("claude_agent_sdk", "claude_agent_sdk", "claude-agent-sdk"),
    ("google_adk", "google.adk", "google-adk"),
    ("haystack", "haystack", "haystack"),
    ("langgraph", "langchain", "langgraph"),
    ("langgraph", "langgraph", "langgraph"),
    ("llama_index", "llama_index.core", "llama-index"),
    ("mcp", "mcp", "mcp"),
    ("openai_agents", "agents", "openai-agents"),
    ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
    ("strands", "strands", "strands"),
]


class Absent:
    """Finds one module nowhere, nor what is below it: as if it were not installed."""

    def __init__(self, module):
        self.module = module

    def find_spec(self, name, *_):
        """Raise what Python raises for a module that no finder has found."""
        if name == self.module:
            raise ModuleNotFoundError(name=name)


@pytest.mark.parametrize(("adapter", "module", "extra"), MISSING)
def test_a_missing_extra_is_named(monkeypatch, adapter, module, extra):
    """The error says which pip command brings the framework, and is an ImportError as well."""
    prefix = f"todoplan.adapters.{adapter}"
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{prefix}.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(module), *sys.meta_path])
    with pytest.raises(MissingExtraError, match=rf"pip install 'todoplan\[{extra}\]'") as caught:
        __import__(prefix)
    assert caught.value.data == {"missing": module, "extra": extra}
    assert isinstance(caught.value, ImportError)


def test_todoplan_alone_loads_no_framework():
    """Neither the package nor its dialogue, planner, codec and folder of adapters load one."""
    code = (
        "import sys, todoplan, todoplan.dialogue, todoplan.planner, todoplan.codec,"
        " todoplan.adapters; print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "todoplan" in loaded
    frameworks = {module.partition(".")[0] for _, module, _ in MISSING} | {"pydantic", "langsmith"}
    assert not loaded & frameworks
