"""
A page in a browser that shows the plans of a store live, and on which a person acts on them:
`pip install 'todoplan[board]'`.

`make_board(store)` is an ASGI application, to be mounted in one's own or served by
`todoplan board`. Read `application` first, what is asked and answered; `feeds` is one plan as all
who watch it know it, `messages` what a page is sent, `acting` what a person does and `wishes` how a
page says it. The page itself, plain modules of JavaScript, stands in `static`; `vendor` there holds
what others wrote. `bundle` has the same modules in one piece, for reports and MCP clients.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.board.application import make_board

__all__ = ["make_board"]
__dir__ = listing(__all__)

# Late: reports want the messages and the page's files, and neither a server nor its extra.
if not TYPE_CHECKING:
    __getattr__ = loader(__name__, {"application": ("make_board",)})
