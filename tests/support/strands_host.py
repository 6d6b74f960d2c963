"""Strands Agents under the conformance suite: adapter and host as the guide shows them."""

from types import SimpleNamespace

from support.docs import defined

from todoplan.testing.adapters import ModelTurn

_NAMES = defined("write-an-adapter", "strands")
ADAPTER = SimpleNamespace(**_NAMES)
HOST = SimpleNamespace(**defined("write-an-adapter", "strands host", **_NAMES))
FILTERED = ModelTurn(text="I cannot", finish="refusal")
"""What the provider has filtered."""
