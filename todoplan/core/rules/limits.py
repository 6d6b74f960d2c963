"""How much a plan may hold."""

import attrs

__all__ = ["Limits"]


@attrs.frozen
class Limits:
    """
    Sizes that the rules `max_items`, `max_text` and `max_edges` hold a plan to.

    `items` and `open_items` count tasks; `subject` and `text` count characters, `text` of the
    description; `edges` counts one task's blockers.
    """

    items: int = 10_000
    open_items: int = 2_000
    subject: int = 500
    text: int = 16_384
    edges: int = 100
