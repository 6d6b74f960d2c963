"""
The rules that a command holds a plan to: a preset by its name, a TOML file, and single rules.

    preset = "claude"          # what to begin with; "default" if it is left out

    [rules]
    single_in_progress = "warn"
    max_items = 50             # a rule that counts takes its number

    [limits]
    open_items = 20

All that is wrong in a file is told at once.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs

from todoplan.core.rules.limits import Limits
from todoplan.core.rules.policy import Policy, RuleSettings
from todoplan.core.rules.presets import PRESETS
from todoplan.errors import PlanError, ReadError

__all__ = ["policy_of"]

_SECTIONS = ("preset", "rules", "limits")
_LARGEST = 1_000_000  # bytes: a file of rules has a few hundred
_DIGITS = 15


def policy_of(name: str, rules: Sequence[str] = ()) -> Policy:
    """
    Return the policy of a preset or a TOML file, with single rules ("max_items=50") upon it.

    Raises:
        PlanError: it names no preset or rule, or sets one to what it cannot be.
        ReadError: the file cannot be read.
    """
    if name.endswith(".toml"):
        policy = _of_file(Path(name))
    elif name in PRESETS:
        policy = PRESETS[name]
    else:
        msg = f"--policy {name!r} is none of {', '.join(PRESETS)}, nor the name of a .toml file"
        raise PlanError(msg, seen=name)
    return _with(policy, dict(map(_setting, rules)), "--rule ")


def _setting(rule: str) -> tuple[str, Any]:
    name, equals, value = rule.partition("=")
    if not equals:
        msg = f"--rule {rule!r} has no value; write {name}=off, {name}=warn or {name}=error"
        raise PlanError(msg, seen=rule)
    # Short: `int` refuses a text of thousands of digits with an error of its own.
    number = value.isascii() and value.isdecimal() and len(value) <= _DIGITS
    return name.strip(), int(value) if number else value


def _of_file(path: Path) -> Policy:
    data = _parsed(path)
    faults = [
        f"{key}: there is no such section; there are {', '.join(_SECTIONS)}"
        for key in data
        if key not in _SECTIONS
    ]
    preset, tables = data.get("preset", "default"), {}
    if not isinstance(preset, str) or preset not in PRESETS:
        faults.append(f"preset: {preset!r} is none of {', '.join(PRESETS)}")
        preset = "default"
    for key in ("rules", "limits"):
        tables[key] = data.get(key, {})
        if not isinstance(tables[key], dict):
            faults.append(f"{key}: this is a table, [{key}]")
            tables[key] = {}
    limits, wrong = _limits(tables["limits"])
    policy = PRESETS[preset].but(limits=limits)
    faults += [*wrong, *_wrong_rules(policy, tables["rules"])]
    if faults:
        msg = f"{path}: {'; '.join(faults)}"
        raise PlanError(msg, file=str(path), faults=faults)
    return policy.but(**cast("RuleSettings", tables["rules"]))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1).decode()
        if len(text) > _LARGEST:
            msg = f"{path} is larger than {_LARGEST} bytes, which no file of rules is"
            raise ReadError(msg, file=str(path))
        return tomllib.loads(text)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise ReadError(msg, file=str(path)) from error
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor TOML, or nested too deeply
        msg = f"{path} is no TOML: {error}"
        raise ReadError(msg, file=str(path)) from error


def _limits(given: Mapping[str, Any]) -> tuple[Limits, list[str]]:
    limits, faults = Limits(), []
    known = [field.name for field in attrs.fields(Limits)]
    for name, number in given.items():
        if name not in known:
            faults.append(f"limits.{name}: there is no such limit; there are {', '.join(known)}")
            continue
        try:
            limits = attrs.evolve(limits, **{name: number})
        except PlanError as error:
            faults.append(f"limits.{name}: {error}")
    return limits, faults


def _with(policy: Policy, rules: Mapping[str, Any], where: str) -> Policy:
    if faults := list(_wrong_rules(policy, rules, where)):
        msg = "; ".join(faults)
        raise PlanError(msg, faults=faults)
    return policy.but(**cast("RuleSettings", rules))


def _wrong_rules(policy: Policy, rules: Mapping[str, Any], where: str = "rules.") -> Iterator[str]:
    """
    Yield what is wrong with settings, each tried by itself: `but` stops at the first.
    """
    counting = [rule.name for rule, _ in policy.rules if rule.limit]
    known = {rule.name for rule, _ in policy.rules}
    for name, value in rules.items():
        # `but` takes limits as well, which a text cannot give.
        if name == "limits":
            yield f"{where}{name}: no rule is called so; limits have a table of their own, [limits]"
            continue
        if type(value) is int and name in known and name not in counting:
            yield (
                f'{where}{name}: {value} is none of "off", "warn", "error"; a number is for '
                f"{', '.join(counting)}, and all other limits for the table [limits] of a file"
            )
            continue
        try:
            policy.but(**cast("RuleSettings", {name: value}))
        except PlanError as error:
            yield f"{where}{name}: {error}"
