"""
A web page that shows the plans of a store live and lets a person change them.

Install it with `pip install 'todoplan[board]'`. `make_board(store)` returns an ASGI application,
which you can mount in your own application; the command `todoplan board` serves it. Read
`application` first: it has the requests and responses, and carries out a person's actions.
`messages` builds the messages to a page. The page itself is in `static` as plain JavaScript
modules; `static/vendor` has third-party code. `bundle` joins the modules into one script, for
reports and MCP clients.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.board.application import make_board

__all__ = ["make_board"]
__dir__ = listing(__all__)

# Loaded lazily: reports use the messages and the page's files, but not the server and its extra.
if not TYPE_CHECKING:
    __getattr__ = loader(__name__, {"application": ("make_board",)})
