"""What the tests of MCP share."""

import pytest
from support.mcp_client import ERAS


@pytest.fixture(params=ERAS)
def era(request):
    """Each kind of protocol that the installed mcp speaks."""
    return request.param
