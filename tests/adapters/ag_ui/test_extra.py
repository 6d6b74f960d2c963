"""The extra: named where it is missing."""

import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without the official package the import says which pip command brings it."""
    for name in [name for name in sys.modules if name.startswith("todoplan.adapters.ag_ui")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ag_ui", None)
    monkeypatch.setitem(sys.modules, "ag_ui.core", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[ag-ui\]'") as caught:
        __import__("todoplan.adapters.ag_ui")
    assert caught.value.data["missing"] == "ag_ui.core"
