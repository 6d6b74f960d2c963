"""Findings of a replay: which rule, where, which task, what to do."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import attrs

from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, ids_text
from todoplan.core.rules.policy import Policy, RuleSettings, Severity
from todoplan.core.rules.presets import PRESETS
from todoplan.dialogue.replies.error_texts import sentence
from todoplan.dialogue.replies.views import one_line
from todoplan.texts.wording import fill, say, wording

__all__ = ["AUDIT", "POLICIES", "Finding", "recording_finding", "rule_findings"]


def _as_warnings(policy: Policy) -> Policy:
    errors = {rule.name: "warn" for rule, level in policy.rules if level is Severity.ERROR}
    return policy.but(**cast("RuleSettings", errors))


# The recorded system accepted the call, so nothing is an error, not even a size: systems without
# limits of ours take a task of a thousand characters.
AUDIT = _as_warnings(PRESETS["agentscope"]).but(
    single_in_progress="warn",
    some_in_progress="warn",
    completed_is_final="warn",
    linear_status="warn",
    dropped_open_items="warn",
    empty_write="warn",
    duplicate_content="warn",
    batch_completion="warn",
    no_op_write="warn",
)
"""Everything worth knowing as a warning: what a replay judges by unless told otherwise."""

_CLIP = 120
_REMOVED = ("completed_is_final", "removed")

POLICIES: dict[str, Policy] = {"audit": AUDIT, **PRESETS}
"""Policies by name: `audit` and the presets."""


@attrs.frozen
class Finding:
    """
    One observation. `line` counts from 1; `text` says to a reader what was seen, in one line.

    `detail` has what a text cuts short, such as the whole words of a refusal.
    """

    code: str
    severity: Severity
    line: int
    lane: str
    task_ids: tuple[str, ...]
    text: str
    detail: str = ""


def rule_findings(
    problems: Iterable[Problem], severity: Severity, line: int, lane: str, before: Plan
) -> Iterator[Finding]:
    """
    Yield the findings for rules that a call broke, or for what no plan could hold.

    `before` is the plan as it was: of a task that is gone nothing else tells the text.
    """
    # A list cut down to what is open is one act, however many finished tasks went with it.
    removed: list[str] = []
    for problem in problems:
        if (problem.code, problem.seen) == _REMOVED:
            removed += problem.task_ids
        else:
            yield _rule_finding(problem, severity, line, lane, before)
    if removed:
        first = _first(removed, before)
        text = say("findings", "rule.completed_removed", ids=ids_text(removed), first=first)
        yield Finding(_REMOVED[0], severity, line, lane, tuple(removed), text)


def _first(task_ids: Sequence[str], before: Plan) -> str:
    task = before.get(task_ids[0]) if task_ids else None
    return one_line(task.subject, _CLIP) if task else ""


def _rule_finding(
    problem: Problem, severity: Severity, line: int, lane: str, before: Plan
) -> Finding:
    # The problem's own sentence tells a model what to send instead, which is no advice to somebody
    # who reads a recording.
    template = wording("findings", f"rule.{problem.code}", "")
    values = {"ids": ids_text(problem.task_ids), "seen": problem.seen, "legal": problem.legal}
    values["first"] = _first(problem.task_ids, before)
    text = fill(template, values) if template and not problem.note else sentence(problem)
    return Finding(problem.code, severity, line, lane, problem.task_ids, text)


def recording_finding(code: str, line: int, lane: str, *task_ids: str, **values: object) -> Finding:
    """
    Return a finding about the recording itself; its sentence stands in `texts/findings.txt`.

    A value `detail` is kept whole beside the sentence.
    """
    detail = str(values.pop("detail", ""))
    text = say("findings", code, **values, at_line=line)
    return Finding(code, Severity.WARN, line, lane, task_ids, text, detail)
