"""
What the scripted model does, as data: the same scripts for every coding agent.

A script says what the person says, what the model answers, and which plans there are at the end.
"""

import attrs

TASKS = ("Dig the beds", "Sow the beans", "Water the beans", "Weed the paths", "Sweep the shed")


@attrs.frozen
class Step:
    """
    An answer of the model: a text, and calls as pairs of a kind and what it needs.

    The kinds are "tick" (the first n tasks are completed, by whichever planning tool the run has),
    "plan" (arguments of our tool), "shell" (a text to echo) and "agent" (a prompt for a subagent).
    `act` is what a person does before the answer, `usage` the input tokens that are claimed, and
    `waits` whether the answer comes after those of the subagent.
    """

    say: str = ""
    calls: tuple = ()
    act: str | None = None
    usage: int = 100
    waits: bool = False


@attrs.frozen
class Turn:
    """What the person says, and the answers. A turn but the first goes on with the conversation."""

    prompt: str
    steps: tuple[Step, ...]
    act: str | None = None


@attrs.frozen
class Script:
    """
    Conversations that are held at the same time, each a tuple of turns that name its `mark`.

    `helper` are the answers of the subagent, `ends` the tasks of each plan at the end, and `reads`
    texts that the model is shown on the way. It is never shown `misses`, and what it `forgets` is
    not in the last request. `wreck` is what is broken from the start: the "store" or the "hook".
    """

    conversations: tuple[tuple[Turn, ...], ...]
    ends: tuple[tuple[str, ...], ...]
    reads: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    helper: tuple[Step, ...] = ()
    wreck: str | None = None


MARKS = ("garden", "kitchen")
"""A word of every prompt, by the number of the conversation."""

COMPACT = "compact"
"""The prompt that stands for the host's command to compact, if it has one."""

HELPER = "HELPER-TASK"
"""The beginning of a subagent's prompt."""


def _tick(done, *more, **rest):
    return Step(calls=(("tick", done), *more), **rest)


def _plan(*calls, **rest):
    return Step(calls=tuple(("plan", call) for call in calls), **rest)


def _ends(done, *more, tasks=TASKS):
    marks = ["[x]" if at < done else "[~]" if at == done else "[ ]" for at in range(len(tasks))]
    return (*(f"{mark} {task}" for mark, task in zip(marks, tasks, strict=True)), *more)


def _one(*steps, prompt="Do the garden."):
    return (Turn(prompt, steps),)


ASK = Step("Shall I go on with the garden?")
_WORK = [each for n in range(1, 6) for each in (Step(calls=(("shell", TASKS[n - 1]),)), _tick(n))]
_NEWS = ("Your plan is not shown", "since you last looked")

SCRIPTS = {
    # The model knows what it has written.
    "plan": Script((_one(_tick(0), ASK),), (_ends(0),), misses=_NEWS),
    "work": Script(
        (_one(_tick(0), *_WORK, Step("The garden is done.")),), (_ends(5),), misses=_NEWS
    ),
    # Two answers in a row without progress, and the model is let go.
    "stop": Script(
        (_one(_tick(0), Step("Early."), _tick(1), *map(Step, ("Again.", "And again.", "End."))),),
        (_ends(1),),
        reads=("while tasks of your plan are open",),
    ),
    "sloppy": Script(
        (
            _one(
                _plan({"write": '["Dig the beds", "Sow the beans"]'}),
                _plan({"done": ["#1"]}),
                _plan({"done": [9]}),
                _plan({"done": "2", "merge": True}),
                Step("The garden is done."),
            ),
        ),
        (_ends(2, tasks=TASKS[:2]),),
    ),
    "parallel": Script(
        (_one(_plan({"write": [*TASKS]}, {"done": [1]}, {"done": [2]}, {"drop": [5]}), ASK),),
        (_ends(2, f"[-] {TASKS[4]}", tasks=TASKS[:4]),),
    ),
    "compaction": Script(
        (
            (
                *_one(_tick(0), _tick(1, usage=999_000), _tick(2), ASK),
                Turn(COMPACT, ()),
                Turn("Yes, the garden.", (_tick(3), ASK)),
            ),
        ),
        (_ends(3),),
        reads=("#3 [in_progress] Water the beans",),
        forgets=("0/5: #1-#5 created",),
    ),
    "resume": Script(
        ((*_one(_tick(0), ASK), *_one(_tick(1), ASK, prompt="Yes, the garden.")),), (_ends(1),)
    ),
    "two sessions": Script(
        (
            _one(_plan({"write": ["Dig"]}), _plan({"done": [1]}), Step("Done.")),
            _one(
                _plan({"write": ["Cook"]}),
                _plan({"done": [1]}),
                Step("Done."),
                prompt="The kitchen.",
            ),
        ),
        (("[x] Cook",), ("[x] Dig",)),
    ),
    # Its list drops nothing that the main agent wrote.
    "subagents": Script(
        (_one(_tick(0), Step(calls=(("agent", f"{HELPER}: help."),)), _tick(1, waits=True), ASK),),
        (_ends(1, "[x] Oil the door"),),
        helper=(_plan({"write": ["Oil the door"]}), _plan({"done": [6]}), Step("Oiled.")),
    ),
    "edit": Script(
        (
            (
                *_one(_tick(0), _tick(1, act="Tell Ann"), _tick(2), ASK),
                Turn("Yes, the garden.", (_tick(3), ASK), act="Tell Bob"),
            ),
        ),
        (_ends(3, "[ ] Tell Ann", "[ ] Tell Bob"),),
        reads=("Tell Ann created by ann", "Tell Bob"),
    ),
    "no store": Script((_one(_tick(0), Step("The garden is done.")),), (), wreck="store"),
    "hook killed": Script((_one(_tick(0), _tick(1), ASK),), (_ends(1),), wreck="hook"),
}
"""The scripts by name."""
