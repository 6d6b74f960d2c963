"""
Faults that models make in arguments that are right otherwise, and random cases with such faults.

Each fault takes the arguments of a call as JSON text and returns what a model sent instead.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.handling.entry import applied

__all__ = ["SPOILS", "spoiled"]

_WORDS = {"completed": "done", "in_progress": "In Progress", "pending": "todo"}
_KEYS = {
    "content": "text",
    "subject": "title",
    "title": "name",
    "taskId": "id",
    "task_id": "taskId",
    "todo_id": "id",
    "done": "completed",
}
_TEXTS = ("Bake", "Sow", "Mend", "Paint", "Ship")


def _walked(change: Callable[[str, Any], Any]) -> Callable[[str], str]:
    """Return a fault that changes each value below its key, from the inside out."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return change(key, [walk(each, key) for each in value])
        return change(key, value)

    return lambda text: json.dumps(walk(json.loads(text)))


def _is_id(key: str, value: Any) -> bool:
    of_id = key in {"id", "taskId", "task_id", "todo_id", "done", "drop", "ids"}
    return of_id and not isinstance(value, list)


def _other_type(key: str, value: Any) -> Any:
    if not _is_id(key, value):
        return value
    return int(value) if isinstance(value, str) and value.isdigit() else str(value)


def _lists_as_text(text: str) -> str:
    given = json.loads(text)
    return json.dumps(
        {key: json.dumps(each) if isinstance(each, list) else each for key, each in given.items()}
    )


def _list_alone(text: str) -> str:
    lists = [each for each in json.loads(text).values() if isinstance(each, list)]
    return json.dumps(lists[0]) if lists else text


def _renamed(text: str) -> str:
    return re.sub(r'"(\w+)":', lambda found: f'"{_KEYS.get(found[1], found[1])}":', text)


SPOILS: dict[str, Callable[[str], str]] = {
    "in a code fence": lambda text: f"```json\n{text}\n```",
    "prose before it": lambda text: f"Sure, here it is: {text}",
    "single quotes": lambda text: str(json.loads(text)),
    "a comma too many": lambda text: re.sub(r"([\]}])$", r",\1", text),
    "keys without quotes": lambda text: re.sub(r'"(\w+)":', r"\1:", text),
    "an example before it": lambda text: f'For example {{"id": 1}}, so here: {text}',
    "sent twice in one": lambda text: text + text,
    "encoded twice": json.dumps,
    "a list as text": _lists_as_text,
    "the last bracket cut": lambda text: text[:-1],
    "all brackets at the end cut": lambda text: re.sub(r"[\]}]+$", "", text),
    "cut in the middle": lambda text: text[: len(text) * 2 // 3],
    "one value for a list": _walked(
        lambda _, each: each[0] if isinstance(each, list) and len(each) == 1 else each
    ),
    "ids of the other type": _walked(_other_type),
    "ids with #": _walked(lambda key, each: f"#{each}" if _is_id(key, each) else each),
    "other status words": _walked(
        lambda key, each: _WORDS.get(each, each) if key == "status" else each
    ),
    "other key names": _renamed,
    "status left out": lambda text: text.replace(', "status": "pending"', ""),
    "the list alone": _list_alone,
}


def spoiled(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield cases with a random plan, in which the last call is right except for one fault."""
    draw = random.Random(seed)  # noqa: S311 - of no secret
    for number in range(count):
        texts = draw.sample(_TEXTS, draw.randint(2, 4))
        done = texts[: draw.randint(0, len(texts) - 1)]
        steps: list[Any] = [["create", texts], *(["complete", text] for text in done)]
        left = texts[len(done)]
        more = next(text for text in _TEXTS if text not in texts)
        last = draw.choice(([["complete", left]], [["add", [more]]], [["delete", left]], []))
        steps += last
        plan: list[tuple[str, str]] = []
        for step in steps:
            plan = applied(plan, step)
        right = [[text, "completed" if word == "completed" else "open"] for text, word in plan]
        for spoil in SPOILS:
            yield {
                "name": f"spoiled-{seed}-{number}-{spoil.replace(' ', '-')}",
                "column": "spoiled calls",
                "origin": f"seed {seed}",
                "promise": "The call is read as it was meant, or refused and nothing changes.",
                "steps": steps,
                "spoil": spoil,
                "wants": [{"plan": right}, {"same": True}],
            }
