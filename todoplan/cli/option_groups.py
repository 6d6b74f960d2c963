"""
Options that many commands share, as one value: a class whose fields are the options.

typer reads a command's options from its parameters, one by one; six options on each of twelve
commands would be a page that nobody reads. Here a command has one parameter for a group, and typer
is shown the fields of its class in that place.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import attrs

__all__ = ["with_groups"]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """
    Return the command as typer is to see it: each parameter that is annotated with an attrs class
    is replaced by that class's fields, as options. The command itself is given the value.
    """
    own = inspect.signature(command, eval_str=True)
    groups = {
        name: parameter.annotation
        for name, parameter in own.parameters.items()
        if attrs.has(parameter.annotation)
    }

    @wraps(command)
    def flat(**given: Any) -> None:
        values = {
            name: group(**{field.alias: given.pop(field.alias) for field in attrs.fields(group)})
            for name, group in groups.items()
        }
        command(**given, **values)

    def parameters() -> Iterator[inspect.Parameter]:
        for name, parameter in own.parameters.items():
            if name not in groups:
                yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        # Behind the command's own, in its help too.
        for group in groups.values():
            for field in inspect.signature(group, eval_str=True).parameters.values():
                yield field.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    # What `inspect.signature` reads first, and so typer.
    vars(flat)["__signature__"] = own.replace(parameters=tuple(parameters()))
    return flat
