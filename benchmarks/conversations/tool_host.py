"""
A tool set that can be asked, whoever wrote it: what it adds to a request, and what it answers.

It lies below both the peers and `priced_tool_sets`, which names them all.
"""

from collections.abc import Callable
from typing import Any

import attrs

__all__ = ["ToolHost"]


@attrs.frozen(eq=False)
class ToolHost:
    """
    A fresh plan behind its tools. `system` is asked before every request: it may show the plan.
    """

    tools: str
    system: Callable[[], str]
    answer: Callable[[str, dict[str, Any]], str]
