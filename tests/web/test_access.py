"""Who may ask: what the MCP server and the board share."""

import pytest

from todoplan.errors import TodoplanError
from todoplan.web import Access


def test_only_loopback_is_local():
    """A name of another machine, or one that a proxy is known by, is not."""
    assert Access().is_local
    assert Access.at("::1").is_local
    assert Access.at("127.0.0.2").is_local
    assert not Access.at("127.0.0.1", names=["plan.example"]).is_local
    assert not Access.at("192.0.2.7", "secret").is_local


def test_the_message_names_the_variable_of_its_server():
    """Each server has its own place for the token."""
    with pytest.raises(TodoplanError, match="set TODOPLAN_BOARD_TOKEN to"):
        Access.at("0.0.0.0", variable="TODOPLAN_BOARD_TOKEN")  # noqa: S104 - it is refused
