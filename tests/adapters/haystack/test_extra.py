"""The extra: named where it is missing, never loaded by others."""

import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without Haystack the import says which pip command brings it."""
    prefix = "todoplan.adapters.haystack"
    for name in [name for name in sys.modules if name.startswith(prefix)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "haystack", None)
    wanted = r"pip install 'todoplan\[haystack\]'"
    with pytest.raises(MissingExtraError, match=wanted) as caught:
        __import__(prefix)
    assert caught.value.data["missing"] == "haystack"
