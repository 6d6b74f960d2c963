"""The options that the commands on a plan share: which plan, who changes it, under which rules."""

from contextlib import suppress
from getpass import getuser
from typing import Annotated

import attrs
import typer

from todoplan.cli.policies import policy_of
from todoplan.cli.stored_plans import PlanStore, chosen_plan, open_store
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import PRESETS
from todoplan.errors import ReadError, TodoplanError
from todoplan.render.cleaning import clip, one_line

__all__ = ["AsData", "AsLines", "Judge", "Place", "Writer", "known_tasks"]

_HINT = 60


def known_tasks(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """
    Return the ids that complete a word, each with its subject; none if no plan can be read.
    """
    place = Place(context.params.get("store"), context.params.get("plan_id"))
    with suppress(TodoplanError):
        store, plan_id = place.opened()
        return [
            (task.id, clip(one_line(task.subject), _HINT))
            for task in store.load(plan_id)
            if task.id.startswith(incomplete.removeprefix("#"))
        ]
    return []


def _known_plans(context: typer.Context, incomplete: str) -> list[str]:
    with suppress(TodoplanError):
        ids = Place(context.params.get("store")).store_itself().plan_ids()
        return [plan_id for plan_id in ids if plan_id.startswith(incomplete)]
    return []


def _policies(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Where the plan is kept: a .json or .db file, or an address such as postgresql://...",
        envvar="TODOPLAN_STORE",
        show_default=False,
    ),
]
StoredPlan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="ID",
        help="Which plan, if the store keeps several.",
        show_default=False,
        autocompletion=_known_plans,
    ),
]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="NAME",
        help="Who makes the change, for the plan's history; else your login name.",
        envvar="TODOPLAN_ACTOR",
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="PRESET|FILE",
        help=f"The rules: {', '.join(PRESETS)}, or a TOML file.",
        autocompletion=_policies,
    ),
]
RuleSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE=HOW",
        help="A single rule: off, warn, error, or the number it counts by; repeatable.",
        show_default=False,
    ),
]
AsData = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
AsLines = Annotated[
    bool, typer.Option("--json", help="Print a JSON document a line, one for each change.")
]


@attrs.frozen
class Place:
    """
    Where the plan is.
    """

    store: StoreAddress = None
    plan_id: StoredPlan = None

    def store_itself(self) -> PlanStore:
        """
        Return the store.

        Raises:
            TodoplanError: none was named, or it is none.
        """
        if not self.store:
            msg = "say where the plan is: --store plans.json, or the variable TODOPLAN_STORE"
            raise ReadError(msg)
        return open_store(self.store)

    def opened(self) -> tuple[PlanStore, str]:
        """
        Return the store, and the id of the plan that is meant.

        Raises:
            TodoplanError: the store cannot be read, or keeps no such plan.
        """
        store = self.store_itself()
        return store, chosen_plan(store, self.plan_id, self.store)


@attrs.frozen
class Judge:
    """
    The rules that hold.
    """

    policy: PolicyName = "default"
    rules: RuleSettings = None

    def rules_that_hold(self) -> Policy:
        """
        Return the policy.

        Raises:
            TodoplanError: there is no such preset, file or rule.
        """
        return policy_of(self.policy, self.rules or ())


@attrs.frozen
class Writer:
    """
    Who makes a change.
    """

    actor: Actor = None

    @property
    def name(self) -> str | None:
        """
        The name for the plan's history: if none was given, the one that the person logged in with.
        """
        if self.actor is not None:
            return self.actor or None
        # In a container nobody may have logged in, and the user's number have no name.
        with suppress(OSError, KeyError, ImportError):
            return getuser()
        return None
