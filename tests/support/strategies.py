"""Hypothesis strategies for the core. Small alphabets, so that ids and texts meet again."""

from datetime import timedelta, timezone

from hypothesis import strategies as st

from todoplan.core.commands import (
    UNSET,
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide
from todoplan.core.frozen import FrozenDict
from todoplan.core.limits import Limits
from todoplan.core.model import Priority, Status, Task, Todo
from todoplan.core.plan import Plan
from todoplan.core.policy import Policy
from todoplan.core.presets import PRESETS
from todoplan.core.rules import RULES

NO_IDS = ("0", "007", "x", "\uff11\uff12", "-1", "1.0", " 1", "", "9" * 30)

statuses = st.sampled_from(Status)
priorities = st.none() | st.sampled_from(Priority)
good_texts = st.sampled_from(["a", "b", "c", "d", "A", " a ", "b!", "\uff23", "a b", "a  b", "…"])
texts = good_texts | st.sampled_from(["", "   ", "\n"]) | st.text(max_size=8)
ids = st.integers(1, 12).map(str)
any_ids = ids | st.sampled_from(NO_IDS)
zones = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
aware_times = st.datetimes(timezones=zones)
times = st.none() | aware_times
optional_texts = st.none() | st.sampled_from(["doing a", "doing b"])
owners = st.none() | st.sampled_from(["ann", "bob"])
estimates = st.none() | st.sampled_from([0.0, 1.0, 2.5, 30.0])
json_leaves = st.none() | st.booleans() | st.integers(2, 9) | st.text(max_size=3)
json_values = st.recursive(
    json_leaves,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
metadata = st.dictionaries(st.sampled_from(["k", "l", "m"]), json_values, max_size=3)


def few(of, most=3):
    """
    Draw a short tuple.
    """
    return st.lists(of, max_size=most).map(tuple)


def todos(text=texts, given_ids=None):
    """
    Draw lines of a whole-list write.
    """
    given = st.none() | any_ids if given_ids is None else given_ids
    return st.builds(Todo, text, statuses, optional_texts, priorities, given)


def creations(text=texts, ends=None):
    """
    Draw single creations, with edges to ids that may not be there.
    """
    edges = few(any_ids) if ends is None else ends
    return st.builds(
        CreateTask,
        text,
        st.sampled_from(["", "why"]),
        statuses,
        optional_texts,
        priorities,
        owners,
        edges,
        edges,
        estimates,
        metadata,
    )


local_ends = st.integers(0, 3).map(lambda n: f"#{n}") | ids | st.sampled_from(["#", "#01", "#-1"])


def unset_or(of):
    """
    Draw UNSET, or a value.
    """
    return st.just(UNSET) | of


updates = st.builds(
    UpdateTask,
    any_ids,
    status=unset_or(statuses),
    subject=unset_or(texts),
    description=unset_or(st.sampled_from(["", "why", "why not"])),
    active_form=unset_or(optional_texts),
    priority=unset_or(priorities),
    owner=unset_or(owners),
    estimate=unset_or(estimates),
    metadata=st.just({}) | metadata,
    add_blocks=few(any_ids, 2),
    add_blocked_by=few(any_ids, 2),
    remove_blocks=few(any_ids, 2),
    remove_blocked_by=few(any_ids, 2),
)
moves = st.builds(UpdateTask, ids, status=statuses)
links = st.builds(UpdateTask, ids, add_blocked_by=few(ids, 2), add_blocks=few(ids, 1))
writes = st.builds(WriteTodos, few(todos(), 6), st.booleans())
legal_writes = st.builds(
    WriteTodos, st.lists(todos(good_texts, st.none()), max_size=6).map(tuple), st.booleans()
)
lists = st.builds(CreateTasks, few(creations(ends=few(local_ends)), 4))
legal_lists = st.builds(CreateTasks, few(creations(good_texts, st.just(())), 4))
deletes = st.builds(DeleteTask, any_ids)
task_values = st.builds(
    Task,
    any_ids,
    texts,
    status=statuses,
    blocks=few(any_ids, 2),
    blocked_by=few(any_ids, 2),
    metadata=metadata.map(FrozenDict),
)
restores = st.builds(RestorePlan, few(task_values, 3), st.integers(0, 20))
singles = st.one_of(
    legal_lists,
    moves,
    links,
    legal_writes,
    updates,
    creations(),
    lists,
    writes,
    deletes,
    st.just(StartNext()),
    st.just(ClearPlan()),
    restores,
)
batches = st.recursive(
    st.builds(Batch, few(moves | links | singles, 4)),
    lambda inner: st.builds(Batch, few(singles | inner, 3)),
    max_leaves=3,
)
commands = singles | batches

limits = st.just(Limits()) | st.builds(
    Limits,
    st.integers(1, 8),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 2),
)
severities = st.dictionaries(
    st.sampled_from(sorted(RULES)), st.sampled_from(["off", "warn", "error"]), max_size=4
)


@st.composite
def policies(draw):
    """
    Draw presets, and policies with a few rules at any severity and limits that bite.
    """
    if draw(st.booleans()):
        return draw(st.sampled_from(list(PRESETS.values())))
    return Policy(limits=draw(limits)).but(**draw(severities))


def run(given, policy=None, plan=None):
    """
    Return the plans after each command that was accepted, the given plan first.
    """
    seen = [plan or Plan()]
    for command in given:
        answer = decide(seen[-1], command, policy or Policy())
        if isinstance(answer, Accepted):
            seen.append(answer.plan)
    return seen


scripts = st.lists(commands, max_size=8)
plans = scripts.map(lambda script: run(script)[-1])
"""Plans that commands have reached, under a policy that refuses nothing but what is no plan."""

full_plans = st.tuples(legal_lists | legal_writes, st.lists(links | moves, max_size=6)).map(
    lambda parts: run([parts[0], *parts[1]])[-1]
)
"""Plans with several tasks and some edges."""

permutations_of_ids = st.lists(st.integers(1, 700).map(str), unique=True, max_size=12)
"""Different ids in any order, with wide gaps."""
