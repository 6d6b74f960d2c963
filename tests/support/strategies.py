"""Strategies of the laws: those of `todoplan.testing.strategies`, and plans made by commands."""

import attrs
from hypothesis import strategies as st

from todoplan.core.commands import CreateTask, CreateTasks, UpdateTask, WriteTodos
from todoplan.core.decide import Accepted, decide
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.testing import strategies as shipped
from todoplan.testing.strategies import command as some_command
from todoplan.testing.strategies import text as texts
from todoplan.testing.strategies import values


def _waiting_if_pending(command):
    """Return a creation that no plan refuses."""
    items = (item if item.status == "pending" else _awake(item) for item in command.items)
    return CreateTasks(tuple(items))


def _awake(item):
    return attrs.evolve(item, waiting=None)


NO_IDS, few, statuses = texts.NO_IDS, texts.few, values.STATUSES
policies = shipped.policies
ids, any_ids = texts.ids(), texts.any_ids()
aware_times, times = values.aware_times(), values.times()
json_values, metadata = values.json_values(), values.metadata()
good_texts = st.sampled_from(["a", "b", "c", "d", "A", " a ", "b!", "\uff23", "a b", "a  b", "…"])

moves = st.builds(UpdateTask, ids, status=statuses)
nests = st.builds(UpdateTask, ids, parent=st.none() | ids)
links = st.builds(UpdateTask, ids, add_blocked_by=few(ids, 2), add_blocks=few(ids, 1))
_ITEMS = some_command.made(
    CreateTask, subject=good_texts, blocks=st.just(()), blocked_by=st.just(()), parent=st.none()
)
legal_writes = some_command.made(WriteTodos, todos=few(values.todos(good_texts, st.nothing()), 6))
legal_lists = st.builds(CreateTasks, few(_ITEMS, 4)).map(_waiting_if_pending)
updates, lists = some_command.COMMANDS[UpdateTask], some_command.COMMANDS[CreateTasks]
commands = shipped.commands()


def todos(text=None, given_ids=None):
    """Draw entries of a whole-list write that all have a status."""
    return shipped.todos(text, given_ids, statuses)


def run(given, policy=None, plan=None):
    """Return the plans after each command that was accepted, the given plan first."""
    seen = [plan or Plan()]
    for command in given:
        answer = decide(seen[-1], command, policy or Policy())
        if isinstance(answer, Accepted):
            seen.append(answer.plan)
    return seen


scripts = st.lists(legal_lists | moves | links | nests | legal_writes | commands, max_size=8)
plans = scripts.map(lambda script: run(script)[-1])
"""Plans made by commands under a policy without rules."""

full_plans = st.tuples(legal_lists | legal_writes, st.lists(links | moves | nests, max_size=6)).map(
    lambda parts: run([parts[0], *parts[1]])[-1]
)
"""Plans with several tasks, some edges, and some subtasks."""

permutations_of_ids = st.lists(st.integers(1, 700).map(str), unique=True, max_size=12)
"""Different ids in any order, with wide gaps."""
