"""The extra: named where it is missing."""

import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without the official package the import says which pip command brings it."""
    for name in [name for name in sys.modules if name.startswith("todoplan.adapters.acp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "acp", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[acp\]'") as caught:
        __import__("todoplan.adapters.acp")
    assert caught.value.data["missing"] == "acp"
