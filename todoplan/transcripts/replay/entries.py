"""One entry of a journal of ours: what happened is known, and is judged as a call would be."""

from todoplan.core.commands import UpdateTask
from todoplan.core.events.apply import replay
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity, judge
from todoplan.transcripts.calls import MAIN_LANE, RecordedEntry
from todoplan.transcripts.replay.call_replay import Mark, Step
from todoplan.transcripts.replay.findings import recording_finding, rule_findings
from todoplan.transcripts.replay.translation import Lane

__all__ = ["entry_step"]


def entry_step(
    lane: Lane, item: RecordedEntry, policy: Policy, before: tuple[Mark, ...] = ()
) -> Step:
    """
    Apply an entry to its lane's plan. One that does not fit it changes nothing.
    """
    entry, plan = item.entry, lane.plan
    findings = []
    after = replay(plan, entry.events)
    # `apply` takes any events to any plan: only the revision tells that entries are missing.
    fits = after.revision == entry.revision
    if not fits:
        after = plan
        reason = f"the entry does not lead to revision {entry.revision}; others are missing"
        findings.append(recording_finding("bad_line", item.line, lane.name, reason=reason))
    else:
        # The command is not kept in a journal: rules about lists as such have nothing to say.
        change = Change(plan, after, UpdateTask("0"), entry.events, policy.limits)
        for severity, problems in zip(
            (Severity.ERROR, Severity.WARN), judge(policy, change), strict=True
        ):
            findings += rule_findings(problems, severity, item.line, lane.name, plan)
    lane.plan = after
    return Step(
        line=item.line,
        lane=lane.name,
        actor=entry.actor or MAIN_LANE,
        tool=entry.cause or "entry",
        at=entry.at,
        outcome="applied" if fits else "unreadable",
        plan=after,
        events=entry.events if fits else (),
        findings=tuple(findings),
        chars=0,
        before=before,
        was=plan,
    )
