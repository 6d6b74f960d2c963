"""`todoplan board`: the plans of a store as a page in a browser. It is imported when asked for."""

import asyncio

import attrs

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Judge, Place, Writer
from todoplan.errors import TodoplanError

__all__ = ["TOKEN", "Doors", "serve_board"]

TOKEN = "TODOPLAN_BOARD_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable that holds the bearer token: an argument would show in process lists."""

_HEAD_SECONDS = 10.0
_CONNECTIONS = 1_000


@attrs.frozen
class Doors:
    """
    Where the board is served, to whom, and whether they may change anything (`None`: from this
    machine only).
    """

    host: str
    port: int
    token: str | None = None
    names: tuple[str, ...] = ()
    write: bool | None = None


def serve_board(place: Place, writer: Writer, judge: Judge, doors: Doors, screen: Screen) -> int:
    """
    Serve until the end; return the exit code.
    """
    try:
        from todoplan.board import make_board  # noqa: PLC0415 - an extra
        from todoplan.web.access import Access  # noqa: PLC0415 - same
        from todoplan.web.serving import listen_at, server_of  # noqa: PLC0415 - same

        access = Access.at(doors.host, doors.token, doors.names, variable=TOKEN)
        app = make_board(
            place.store_itself(),
            plan_id=place.plan_id,
            policy=judge.rules_that_hold(),
            person=writer.name or "person",
            access=access,
            write=doors.write,
        )
        listener, url = listen_at(doors.host, doors.port, "/")
        screen.complain(f"the board is served at {url}")
        server = server_of(app, head_seconds=_HEAD_SECONDS, connections=_CONNECTIONS)
        asyncio.run(server.serve(sockets=[listener]))
    except (TodoplanError, OSError) as error:
        screen.complain(str(error))
        return UNREADABLE
    return 0
