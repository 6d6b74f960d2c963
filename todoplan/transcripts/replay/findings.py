"""Findings of a replay: which rule, where, which task, what to do."""

import attrs

from todoplan.core.problems import Problem, ids_text
from todoplan.core.rules.policy import Policy, Severity
from todoplan.core.rules.presets import PRESETS
from todoplan.dialogue.replies.error_texts import sentence
from todoplan.texts.wording import fill, say, wording

__all__ = ["AUDIT", "POLICIES", "Finding", "recording_finding", "rule_finding"]

# On the preset that refuses least: the recorded system accepted the call, so nothing is an error.
AUDIT = PRESETS["agentscope"].but(
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


def rule_finding(problem: Problem, severity: Severity, line: int, lane: str) -> Finding:
    """
    Return the finding for a rule that a call broke, or for what no plan could hold.
    """
    # The problem's own sentence tells a model what to send instead, which is no advice to somebody
    # who reads a recording.
    template = wording("findings", f"rule.{problem.code}", "")
    values = {"ids": ids_text(problem.task_ids), "seen": problem.seen, "legal": problem.legal}
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
