"""One shape for all adapters: the same names, meaning, order and defaults; and what each can do."""

import inspect
import re
from importlib import import_module, util
from pathlib import Path

import pytest

from todoplan.errors import PlanError
from todoplan.testing.adapters import ALL, AdapterSuite, Capability
from todoplan.testing.adapters.report import table

HERE = Path(__file__).parent
FRAMEWORKS = {
    "langgraph": ("langgraph", ["PlanMiddleware"]),
    "agentscope": ("agentscope", ["attach"]),
    "openai_agents": ("agents", ["Planning"]),
    "pydantic_ai": ("pydantic_ai", ["Planning"]),
    "claude_agent_sdk": ("claude_agent_sdk", ["Planning"]),
    "google_adk": ("google.adk", ["Planning"]),
    "agent_framework": ("agent_framework", ["Planning"]),
    "strands": ("strands", ["Planning"]),
    "haystack": ("haystack", ["Planning"]),
    "llama_index": ("llama_index", ["Planning"]),
}
NAMES = ["edit_plan", "history_of", "make_tools", "plan_of_state", "seed_plan", "undo_plan"]
TOOLS_ARE_MADE_BY = {  # where tools are not made of a `Planning`, which has the settings
    "langgraph": ["make_tools"],
    "agentscope": ["PlanMiddleware", "make_tools"],
    "pydantic_ai": ["make_tools"],
}
SETTINGS = ["toolbox", "settings", "store", "clock", "verify", "system_prompt"]


def adapter(name):
    if util.find_spec(FRAMEWORKS[name][0]) is None:
        pytest.skip(f"{name} is not installed")
    return import_module(f"todoplan.adapters.{name}")


def parameters(function):
    return inspect.signature(function).parameters


def suites():
    """Return the conformance suites of all adapters whose frameworks are installed, by folder."""
    found = {}
    for file in sorted(HERE.glob("*/test_conformance.py")):
        name = file.parent.name
        if name in FRAMEWORKS and util.find_spec(FRAMEWORKS[name][0]) is None:
            continue
        spec = util.spec_from_file_location(f"conformance_of_{name}", file)
        assert spec
        assert spec.loader
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        classes = (each for each in vars(module).values() if inspect.isclass(each))
        found[name] = [c for c in classes if issubclass(c, AdapterSuite) and c is not AdapterSuite]
    return found


def matrix():
    """Return a Markdown table of the capabilities that not every suite has."""
    adapters = suites()
    lines = ["| capability | not in | only partly in |", "| --- | --- | --- |"]
    for each in Capability:
        without, partly = [], []
        for name, listed in adapters.items():
            has = sum(each in suite.capabilities for suite in listed)
            if has < len(listed):
                (partly if has else without).append(f"`{name}`")
        if without or partly:
            lines.append(f"| `{each.name}` | {', '.join(without)} | {', '.join(partly)} |")
    return "\n".join(lines)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_same_names_mean_the_same(name):
    """What is edited comes first, then the command or plan; actor and policy are keywords."""
    module = adapter(name)
    assert set(NAMES) <= set(module.__all__)
    for function, given, keywords in (
        (module.edit_plan, "command", {"actor": None, "policy": None}),
        (module.seed_plan, "plan", {"actor": None}),
    ):
        found = parameters(function)
        by_place = [p.name for p in found.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert by_place[-1] == given
        named = {p.name: p.default for p in found.values() if p.kind is p.KEYWORD_ONLY}
        assert [*named.items()][: len(keywords)] == [*keywords.items()]
    edited, undone = (
        [p.name for p in parameters(each).values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        for each in (module.edit_plan, module.undo_plan)
    )
    assert [*undone, "command"] == edited
    assert parameters(module.undo_plan)["actor"].default is None
    assert [*parameters(module.history_of)] == [*parameters(module.plan_of_state)]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_same_settings_in_the_same_order(name):
    """
    Toolbox, settings, store, clock and verifier, then what the framework has of its own; wherever
    tools are made, the verifier is behind the clock, and the actor behind the settings.
    """
    module = adapter(name)
    wanted = SETTINGS
    if name == "openai_agents":  # the prompt is an agent's, and a plan may be that of several
        wanted = wanted[:-1]
        assert "system_prompt" in parameters(module.attach)
    kinds, makers = FRAMEWORKS[name][1], TOOLS_ARE_MADE_BY.get(name, [])
    for kind in [*kinds, *makers]:
        found = parameters(getattr(module, kind))
        names = [each for each in found if each != "self"]
        assert kind in makers or names[: len(wanted)] == wanted
        assert names.index("verify") == names.index("clock") + 1
        # Pydantic AI's plans have the ids of their conversations.
        before = "plan_id" if "plan_id" in found else "system_prompt"
        if name != "pydantic_ai" or kind not in makers:  # its tools have no name of their own
            assert names.index("actor") == names.index(before) + 1
            assert found["actor"].default is None
        assert found["verify"].default is None


@pytest.mark.parametrize(
    "name", [name for name, kinds in FRAMEWORKS.items() if "Planning" in kinds[1]]
)
def test_an_actor_is_a_name(name):
    """Anything else is refused when the planning is made, not at a call."""
    with pytest.raises(PlanError, match="actor"):
        adapter(name).Planning(actor=3)


def test_the_matrix_is_drawn_from_what_the_suites_declare():
    """Its rows are the capabilities that a suite lacks; each names the adapters of those suites."""
    _, _, *rows = matrix().splitlines()
    cells = [row.partition(" | ") for row in rows]
    shown = {first.removeprefix("| ").strip("`"): rest for first, _, rest in cells}
    adapters = [(name, suite) for name, found in suites().items() for suite in found]
    lacking = {
        each: [name for name, suite in adapters if each not in suite.capabilities]
        for each in Capability
    }
    assert set(shown) == {each.name for each, names in lacking.items() if names}
    for each, names in lacking.items():
        assert set(re.findall(r"`(\w+)`", shown.get(each.name, ""))) == set(names)
    listed = [suite for _, suite in adapters]
    assert set().union(*(suite.capabilities for suite in listed)) == ALL
    assert table(listed).count("capabilities") == len(listed)
    assert all(suite.capabilities <= ALL for suite in listed)
