"""What a policy demands of a task, and a tool set has no argument for."""

from collections.abc import Iterator, Sequence

from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.intake.fields import Field
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.errors import PlanError

__all__ = ["refuse_unmet", "unmet"]


def unmet(toolset: ToolSet, policy: Policy) -> dict[str, str]:
    """
    Return the rules at error that no call of the tool set can satisfy, each with its field.
    """
    strict = (rule for rule, level in policy.rules if level is Severity.ERROR)
    demands = {rule.name: rule.new_tasks_need for rule in strict if rule.new_tasks_need}
    if not demands:
        return {}
    fields = (field.target for tool in toolset.tools for field in _all_fields(tool.fields))
    taken = {"subject", *fields}  # a title is called differently, and always there
    return {name: field for name, field in demands.items() if field not in taken}


def refuse_unmet(toolset: ToolSet, policy: Policy) -> None:
    """
    Refuse a policy under which every new task would be refused.

    Raises:
        PlanError: with the remedy.
    """
    if vain := unmet(toolset, policy):
        off = ", ".join(f'{name}="off"' for name in vain)
        msg = (
            f"the tool set {toolset.name} takes no {', '.join(vain.values())}, which the policy"
            f" demands by {', '.join(vain)}: every new task would be refused. Give"
            f" policy.but({off}), or a tool set that takes it"
        )
        raise PlanError(msg, toolset=toolset.name, rules=tuple(vain))


def _all_fields(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from _all_fields(field.items)
