"""The public surface: one list of names. All else is internal, and may change in any version."""

import importlib
import inspect
import pkgutil
from contextlib import suppress

import pytest

PUBLIC = {
    "todoplan": (
        "AGENTSCOPE Accepted AsyncPlanner CLAUDE CLAUDE_STRICT Change DEFAULT FileStore "
        "LANGCHAIN LEAN Limits MemoryStore Plan Planner Policy Priority Problem Rejected Rule "
        "STRICT Status TASKS TODOS Task Todo TodoplanError Toolbox __version__ apply commands "
        "decide events explain plan_of replay"
    ),
    "todoplan.core.commands": (
        "AnswerTask ApprovePlan Batch ClaimTask ClearPlan Command CreateTask CreateTasks "
        "DeleteTask MoveTask RecordEvidence ReleaseClaim RenewClaim RestorePlan StartNext "
        "UNSET Unset UpdateTask WriteTodos"
    ),
    "todoplan.core.events.types": (
        "ClaimRenewed EdgeAdded EdgeRemoved Event ParentChanged PlanApproved PlanCleared "
        "PlanRestored StatusChanged TaskClaimed TaskCreated TaskDeleted TaskEdited "
        "TasksReordered"
    ),
    "todoplan.core.events.drift": "Drift drift",
    "todoplan.core.plan.questions": (
        "ancestors blocked children critical_path depth descendants is_ready leaves next_task "
        "open_tasks progress ready stuck topological_order unblocked_by unresolved_blockers "
        "within_reach"
    ),
    "todoplan.errors": (
        "CodecError MissingExtraError PlanError ReadError StoreError TodoplanError UnfinishedError"
    ),
    "todoplan.dialogue": (
        "Advice Call Clock Guidance InputLimits LEAN Memory Message PlanClosed Reply Settings "
        "TASKS TODOS ToolResult ToolSet Toolbox Turn WRITE_TODOS answered_after answered_beside "
        "fences_after lean plan_closed tasks text_of unfinished_error utc_now"
    ),
    "todoplan.planner": "AnyStore AsyncPlanner Planner Subscriber Verifier",
    "todoplan.planner.claiming": "AsyncClaimed Claimed WorkDone work work_async",
    "todoplan.stores": (
        "AnyStore AsyncPostgresStore AsyncStore Entry FileStore MemoryStore PostgresStore "
        "SqliteStore Store open_store"
    ),
    "todoplan.codec": (
        "VERSION dump_journal dump_plan entry_from_data entry_to_data from_agentscope from_agno "
        "from_backlog from_beads from_hermes from_langchain from_markdown from_pydantic_ai_todo "
        "from_taskmaster json_schema load_journal load_plan not_held plan_from_data plan_to_data "
        "to_agentscope to_backlog to_langchain to_markdown"
    ),
    "todoplan.board": "make_board",
    "todoplan.render": "drift_to_text to_dot to_html to_markdown to_mermaid to_text",
    "todoplan.testing": (
        "PlanMachine RuleNeverFiredWarning ToolMachine find_counterexample strategies"
    ),
    "todoplan.testing.strategies": (
        "BREAKS FieldKind arguments broken_arguments commands commands_near conversations "
        "events histories hostile_texts plans policies scripts sensible_commands tasks texts todos "
        "turns"
    ),
    "todoplan.testing.adapters": (
        "ALL AdapterSuite Capability Clock Definition Host ModelTurn Ran Script Seen Setup needs"
    ),
    "todoplan.testing.stores": "AsyncStoreSuite StoreSuite",
}
PROVISIONAL = {
    "todoplan.adapters.agent_framework": (
        "Planning edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.adapters.strands": (
        "Planning edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.telemetry": "traced",
    "todoplan.adapters.acp": "make_update show_plan",
    "todoplan.adapters.ag_ui": "make_delta make_snapshot show_plan",
    "todoplan.adapters.agentscope": (
        "PlanMiddleware PlanTool TaskCreate TaskGet TaskList TaskUpdate attach edit_plan "
        "history_of make_tools plan_of_state repair seed_plan undo_plan"
    ),
    "todoplan.adapters.claude_agent_sdk": (
        "Planning attach edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.adapters.functions": "Answered Run",
    "todoplan.adapters.functions.anthropic_messages": (
        "answer calls_in make_tools read_messages results_of start_run with_reminder"
    ),
    "todoplan.adapters.functions.gemini": (
        "answer calls_in make_tools read_messages results_of start_run with_reminder"
    ),
    "todoplan.adapters.functions.openai_chat": (
        "answer calls_in make_tools read_messages results_of start_run with_reminder"
    ),
    "todoplan.adapters.functions.openai_responses": (
        "answer calls_in make_tools read_messages results_of start_run with_reminder"
    ),
    "todoplan.adapters.google_adk": (
        "Planning attach edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.adapters.haystack": (
        "Planning attach edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.adapters.llama_index": (
        "Planning PlanningAgent edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
    "todoplan.adapters.langgraph": (
        "PlanApproval PlanMiddleware PlanState aedit_plan aseed_plan aundo_plan claude_like "
        "command_update deep_planning deerflow_like edit_plan history_of langchain_like make_tools "
        "merge_plans plan_of_state plan_update seed_plan todos_of undo_plan"
    ),
    "todoplan.adapters.mcp": (
        "Access Limits http_server listen_at make_app make_server make_tools plan_uri result_of "
        "serve_stdio"
    ),
    "todoplan.adapters.openai_agents": (
        "Planning attach edit_plan guided_model history_of make_tools plan_of_state seed_plan "
        "undo_plan"
    ),
    "todoplan.adapters.pydantic_ai": (
        "PlanToolset Planning edit_plan history_of make_tools plan_of_state seed_plan undo_plan"
    ),
}
# 150 before tasks could wait, nest and be claimed: ten commands, events and questions are of that.
# Five more are plans in Markdown files, three the search for what a rule forgets, one the
# error of a run that ends with open tasks.
MOST_NAMES = 199
LONGEST_SIGNATURE, LONGEST_PARAMETER = 250, 45


def value_of(namespace, name):
    """Return what a namespace has under a name."""
    return getattr(importlib.import_module(namespace), name)


@pytest.mark.parametrize("namespace", [*PUBLIC, *PROVISIONAL])
def test_a_namespace_shows_its_public_names_and_no_other(namespace):
    """`dir()` and `__all__` are the list: not what a module imports, nor the modules below it."""
    names = (PUBLIC | PROVISIONAL)[namespace].split()
    module = importlib.import_module(namespace)
    assert sorted(module.__all__) == dir(module) == names


def test_there_are_few_public_names():
    """What stands in two namespaces counts once; an adapter's names are those of every adapter."""
    here = [
        value_of(namespace, name) for namespace, names in PUBLIC.items() for name in names.split()
    ]
    assert len({id(value) for value in here}) <= MOST_NAMES
    assert len(PUBLIC["todoplan"].split()) <= 35


def test_every_adapter_is_in_the_list():
    """A new one cannot be left out of it."""
    found = pkgutil.iter_modules(importlib.import_module("todoplan.adapters").__path__)
    adapters = {f"todoplan.adapters.{module.name}" for module in found}
    assert adapters == {name for name in PROVISIONAL if name.count(".") == 2}


def signatures():
    """Yield (name, signature) of every public callable and of its public methods."""
    for namespace, names in (PUBLIC | PROVISIONAL).items():
        for name in names.split():
            value = value_of(namespace, name)
            members = inspect.getmembers(value, callable) if inspect.isclass(value) else []
            inner = [(f"{name}.{key}", member) for key, member in members if key[0] != "_"]
            if hasattr(value, "model_fields"):  # a framework's model: its fields and methods
                value, inner = value.__init__, []
            for full_name, member in [(name, value), *inner]:
                if inspect.isroutine(member) or inspect.isclass(member):
                    with suppress(ValueError):  # an exception of Python's own has no signature
                        yield f"{namespace}.{full_name}", inspect.signature(member)


def test_a_signature_can_be_read():
    """
    `help()` shows presets and tool sets by their names, and unions by the names they have: 250
    characters at most, or 45 a parameter where there are more (a task's fields, a framework's own).
    """
    checked = dict(signatures())
    assert len(checked) > 200
    long = {
        name: str(signature)
        for name, signature in checked.items()
        if len(str(signature))
        > max(LONGEST_SIGNATURE, LONGEST_PARAMETER * len(signature.parameters))
    }
    assert long == {}


def test_help_has_words_for_every_public_method():
    """Also for a method that is made of another one, as those of asynchronous stores are."""
    without = [
        f"{namespace}.{name}.{key}"
        for namespace, names in (PUBLIC | PROVISIONAL).items()
        for name in names.split()
        if inspect.isclass(value_of(namespace, name))
        for key, method in inspect.getmembers(value_of(namespace, name), inspect.isfunction)
        if key[0] != "_" and method.__module__.startswith("todoplan.")
        if not inspect.getdoc(method)
    ]
    assert without == []
