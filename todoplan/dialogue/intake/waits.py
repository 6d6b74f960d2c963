"""
What tasks wait for outside the plan, in the words of models: a status such as "on hold", a reason,
a list of reasons by id.

A wait is a field of a task and no status, so what is said of both must come together: what waits is
pending, and what is closed waits for nothing.
"""

import re
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.core.plan.model import Status
from todoplan.dialogue.intake.fields import folded
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.vocabulary import BLOCKED, id_of, ids_in

__all__ = ["WaitingWord", "read_reason", "read_waits", "settle_wait"]

_ID_KEYS = frozenset({"id", "taskid"})
_EDGES = frozenset({"blocked_by", "add_blocked_by"})
_WAITING_LINE = re.compile(r"#?([0-9]{1,18})(?:\s*+[:,-]|\s)\s*+(\S.*)", re.DOTALL)
_REASON_KEYS = frozenset({"for", "reason", "why", "text", "waitingfor"})
_WAITS_LEGAL = 'ids with what each waits for, such as {"3": "the answer of ann"}'


@attrs.frozen
class WaitingWord:
    """
    A status such as "on hold": the task is pending, and waits for what `reason` says.
    """

    word: str
    reason: str


def read_reason(value: Any, path: str, findings: Findings) -> Any:
    """
    Read what a task waits for, where it may be asked for in words of others: `needs`, `reason`.
    """
    if isinstance(value, str) and not all(map(id_of, ids_in(value))):
        return findings.cleaned(value.strip(), path)
    # Ids, say: a whole list has no edges, and an edge is no wait for something outside of it.
    findings.repair("ignored_key", path, path.rpartition(".")[2])
    return MISSING


def read_waits(value: Any, path: str, findings: Findings) -> Any:
    """
    Read what tasks wait for, as pairs of an id and a reason, "" for no more: {"3": "why"}, and also
    "3 why", [{"id": 3, "for": "why"}], or a list of these.
    """
    found = findings.decoded(value, path, expected=True)
    if found is MISSING:
        return MISSING
    if isinstance(found, Mapping) and not _ID_KEYS & set(map(folded, found)):
        pairs = list(found.items())
    else:
        listed = found if isinstance(found, list | tuple) else [found]
        pairs = [_wait_in(part) for part in listed]
        findings.repair("waits", path, value)
    if len(pairs) > findings.limits.items:
        return findings.refuse("too_many", path, len(pairs), str(findings.limits.items))
    waits: dict[str, str] = {}
    for key, reason in pairs:
        task_id = id_of(key)
        if task_id is None or not isinstance(reason, str | None):
            findings.refuse("bad_id" if task_id is None else "wrong_type", path, key, _WAITS_LEGAL)
        elif task_id in waits:
            findings.refuse("duplicate_key", path, task_id)
        else:
            waits[task_id] = findings.cleaned((reason or "").strip(), path)
    return tuple(waits.items())


def _wait_in(part: Any) -> tuple[Any, Any]:
    """
    Return the id and the reason in an entry of a list; no id where there are not both.
    """
    if isinstance(part, str) and (line := _WAITING_LINE.fullmatch(part.strip())):
        return line[1], line[2]
    if not isinstance(part, Mapping):
        return None, part
    by_word = {folded(key): inner for key, inner in part.items()}
    ids = [by_word[key] for key in sorted(_ID_KEYS & by_word.keys())]
    reasons = [by_word[key] for key in sorted(_REASON_KEYS & by_word.keys())]
    return (ids[0], reasons[0]) if ids and reasons else (None, part)


def settle_wait(values: dict[str, Any], paths: Mapping[str, str], findings: Findings) -> None:
    """
    Bring together what status and wait say: what waits is pending, and what is closed waits for
    nothing.
    """
    status = values.get("status")
    if isinstance(status, WaitingWord):
        values["status"] = Status.PENDING
        # Whom a task is blocked by, where that is said, are edges: no wait would ever end by them.
        waits = "waiting" in paths and not (status.reason == BLOCKED and values.keys() & _EDGES)
        used = "pending and waiting" if waits else "pending"
        findings.repair("word", paths["status"], status.word, used)
        if waits:
            values["waiting"] = values.get("waiting") or status.reason
    elif status in {None, Status.PENDING} or not values["waiting"]:
        return
    elif status is Status.IN_PROGRESS:
        findings.repair("word", paths["status"], status, "pending and waiting")
        values["status"] = Status.PENDING
    else:
        findings.repair("ignored_key", paths["waiting"], "waiting")
        del values["waiting"]
