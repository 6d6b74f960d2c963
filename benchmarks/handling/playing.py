"""Plays a case with an entry, and compares the result with what the case wants."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.handling.entry import Answer, Entry, Task, Wish
from benchmarks.handling.spoiling import SPOILS

__all__ = ["Case", "Life", "Played", "life", "outcome", "played"]

Case = Mapping[str, Any]
_REFUSED = re.compile(
    r"\b(not|no|\w*error|invalid|must|cannot|unknown|missing|nothing)\b", re.IGNORECASE
)


class Step(NamedTuple):
    """One turn: the plan before, the calls, the answers, and the plan after."""

    before: list[Task]
    calls: list[tuple[str, str]]
    answers: list[Answer]
    after: list[Task]


class Played(NamedTuple):
    """
    The result of a case with an entry.

    `verdict` is "kept", "fault", "documented" (a fault that the implementation documents) or "n/a".
    For a spoiled call it is "right", "refused" or "harm". `what` says what was seen.
    """

    verdict: str
    what: str = ""


def outcome(case: Case, make: type[Entry]) -> Played:
    """Play a case with a new entry, and judge it."""
    entry = make()
    try:
        steps, entry = played(case, entry)
    except KeyError as missing:
        if case.get("must") and missing.args == (case["steps"][-1][0],):
            return _judged(case, make, f"there is no call for {missing}")
        return Played("n/a", f"no call for {missing}")
    except _Unchanged:
        return Played("n/a", "the fault does not change this call")
    except Exception as error:  # noqa: BLE001 - whatever an implementation lets through
        return _judged(case, make, f"raised {type(error).__name__}: {_short(str(error))}")
    wanted = case["wants"]
    if "spoil" in case:
        found = [_unmet(each, steps, entry) for each in wanted]
        verdict = "right" if not found[0] else "refused" if not all(found) else "harm"
        return Played(verdict, "" if verdict == "right" else _seen(steps))
    unmet = [_unmet(each, steps, entry) for each in wanted]
    if "n/a" in unmet:
        return Played("n/a", "it has no such thing")
    if not all(unmet):
        return Played("kept")
    return _judged(case, make, f"{_seen(steps)}; missed: {' or '.join(unmet)}")


def _judged(case: Case, make: type[Entry], what: str) -> Played:
    if "spoil" in case:
        return Played("harm", what)
    told = case.get("documented", {}).get(make.name)
    return Played("documented", f"{what}; documented: {told}") if told else Played("fault", what)


class _Unchanged(Exception):  # noqa: N818 - no error
    """A fault that leaves the call as it was."""


def played(case: Case, entry: Entry) -> tuple[list[Step], Entry]:
    """Carry out a case; return its steps and the last entry, because `resume` makes a new one."""
    steps: list[Step] = []
    last = len(case["steps"]) - 1
    for place, wish in enumerate(case["steps"]):
        before = entry.tasks()
        if wish[0] == "person":
            entry.person(wish[1])
            steps.append(Step(before, [], [], entry.tasks()))
        elif wish[0] == "resume":
            entry = entry.resumed()
            steps.append(Step(before, [], [], entry.tasks()))
        else:
            calls = _calls(entry, wish)
            if len(calls) > 1 and case.get("one_call"):
                raise KeyError(wish[0])
            if place == last and "spoil" in case:
                spoilt = [(name, SPOILS[case["spoil"]](text)) for name, text in calls]
                if spoilt == calls:
                    raise _Unchanged
                calls = spoilt
            answers = entry.turn(calls) if calls else []
            steps.append(Step(before, calls, answers, entry.tasks()))
    return steps, entry


def _calls(entry: Entry, wish: Wish) -> list[tuple[str, str]]:
    return [(name, json.dumps(given)) for name, given in entry.calls(entry.usual(wish))]


def _class(status: str) -> str:
    word = status.lower()
    if word in {"completed", "done"}:
        return "completed"
    return "gone" if word in {"cancelled", "deleted", "failed"} else "open"


def _plan(tasks: list[Task]) -> list[tuple[str, str]]:
    return sorted((t.text, _class(t.status)) for t in tasks if _class(t.status) != "gone")


def _unmet(wants: Mapping[str, Any], steps: list[Step], entry: Entry) -> str:
    """Return the first unmet want of the case, "" if none, or "n/a" if it does not apply."""
    last = [step for step in steps if step.calls][-1]
    now = {task.text: task for task in entry.tasks()}
    told = "\n".join(answer.text for answer in last.answers)
    for key, value in wants.items():
        if key == "plan":
            met = _plan(steps[-1].after) == sorted((t, s) for t, s in value)
        elif key == "has":
            found = _plan(steps[-1].after)
            met = all((t, s) in found for t, s in value)
        elif key == "same":
            met = [*map(tuple, last.before)] == [*map(tuple, last.after)]
        elif key == "refused":
            same = [*map(tuple, last.before)] == [*map(tuple, last.after)]
            met = same and any(a.is_error or _REFUSED.search(a.text) for a in last.answers)
        elif key == "names":
            met = all(_named(text, told, steps) for text in value)
        elif key == "told":
            asked = f"{told}\n{entry.request()}"
            met = all(_named(text, asked, steps) for text in value)
        elif key == "way":
            words = [*value, *now, *(t.id for t in now.values()), entry.read]
            met = any(_word(word, told) for word in words if word)
        elif key in {"free", "blocked"}:
            met = all(t in now and now[t].blocked == (key == "blocked") for t in value)
        elif key == "active":
            met = all(t in now and now[t].status == "in_progress" for t in value)
        elif key == "ids":
            if not any(task.id for step in steps for task in step.after):
                return "n/a"
            met = _apart(steps) if value == "apart" else _stay(steps)
        elif key == "lines":
            ((_, said),) = _reading(entry) or [("", "")]
            if not said:
                return "n/a"
            met = not set(value) & {line.strip() for line in said.splitlines()}
        else:
            asked = entry.request()
            if not any(text.split("\n")[0].split("<")[0].strip() in asked for text in value):
                return "n/a"  # a request does not show the plan
            met = not any(text in asked for text in value)
        if not met:
            return key
    return ""


def _reading(entry: Entry) -> list[tuple[str, str]]:
    if not entry.read:
        return []
    calls = _calls(entry, ["read"])
    return [(entry.read, "\n".join(answer.text for answer in entry.turn(calls)))]


def _named(text: str, told: str, steps: list[Step]) -> bool:
    ids = {t.id for step in steps for t in [*step.before, *step.after] if t.text == text and t.id}
    return any(_word(word, told) for word in (text, *ids))


def _word(word: str, told: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", told, re.IGNORECASE) is not None


def _apart(steps: list[Step]) -> bool:
    texts: dict[str, str] = {}
    for step in steps:
        if len({task.id for task in step.after}) < len(step.after):
            return False
        if any(texts.setdefault(task.id, task.text) != task.text for task in step.after):
            return False
    return True


def _stay(steps: list[Step]) -> bool:
    ids: dict[str, str] = {}
    return all(ids.setdefault(t.text, t.id) == t.id for step in steps for t in step.after)


def _seen(steps: list[Step]) -> str:
    last = [step for step in steps if step.calls][-1]
    plan = ", ".join(f"{t.text} {t.status}" for t in steps[-1].after) or "nothing"
    told = " / ".join(_short(answer.text) for answer in last.answers) or "no answer"
    return f"plan: {_short(plan)}; answer: {told}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) < 160 else f"{flat[:150]} ..."  # noqa: PLR2004 - a line of a page


class Life(NamedTuple):
    """The texts of a life: what each request repeats, what the model wrote, and what it read."""

    fixed: list[str]
    written: list[str]
    read: list[str]


def life(make: type[Entry], texts: list[str]) -> Life | None:
    """
    Create tasks with one wish. Then complete each task and start the next one in one turn.

    Returns:
        `None` if a task is not completed at the end.
    """
    entry = make()
    found = Life([entry.tools(), entry.request()], [], [])
    for wish in _life(texts):
        calls = [(name, text) for name, text in _calls(entry, wish) if text != "{}"]
        found.written.extend(f"{name} {text}" for name, text in calls)
        found.read.extend(answer.text for answer in entry.turn(calls))
    if any(_class(task.status) != "completed" for task in entry.tasks()):
        return None
    return found


def _life(texts: list[str]) -> Iterator[Wish]:
    yield ["create", texts]
    for one, other in zip(texts, [*texts[1:], ""], strict=True):
        done = ["complete", one]
        yield ["batch", done, ["start", other]] if other else done
