"""
A tool set of any author behind one interface: what it adds to a request, and its replies.

Both the peers and `priced_tool_sets`, which lists them, depend on this module.
"""

from collections.abc import Callable
from typing import Any

import attrs

__all__ = ["ToolHost"]


@attrs.frozen(eq=False)
class ToolHost:
    """
    A new plan and its tools. `system` is called before every request, as it may show the plan.
    """

    tools: str
    system: Callable[[], str]
    answer: Callable[[str, dict[str, Any]], str]
