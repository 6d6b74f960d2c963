"""The extra: named where it is missing, never loaded by others."""

import sys

import pytest

from todoplan.errors import MissingExtraError


def test_a_missing_extra_is_named(monkeypatch):
    """Without LlamaIndex the import says which pip command brings it."""
    prefix = "todoplan.adapters.llama_index"
    for name in [name for name in sys.modules if name.startswith(prefix)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llama_index", None)
    wanted = r"pip install 'todoplan\[llama-index\]'"
    with pytest.raises(MissingExtraError, match=wanted) as caught:
        __import__(prefix)
    assert caught.value.data["missing"] == "llama_index"
