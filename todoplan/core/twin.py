"""
Frozen attrs values at a third of their price.

A frozen attrs class sets each field through `object.__setattr__`. A mutable twin with the same
slots assigns plainly, and takes the frozen class when it is done; equal slots make that legal.
"""

from typing import Any

import attrs

__all__ = ["mutable_twin"]


def mutable_twin(frozen: type[attrs.AttrsInstance]) -> Any:
    """
    Return a mutable class with the same fields; set an instance's `__class__` to freeze it.

    The frozen class must have no slot for weak references: CPython counts it against the swap.
    """
    fields = {
        field.name: attrs.field(default=field.default, alias=field.alias)
        for field in attrs.fields(frozen)
    }
    name = f"{frozen.__name__}Draft"
    return attrs.make_class(name, fields, slots=True, weakref_slot=False, eq=False, repr=False)
