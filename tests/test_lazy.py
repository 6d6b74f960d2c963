"""Packages that load their names when they are asked for."""

import sys

import pytest

import todoplan
from todoplan.lazy import loader


@pytest.fixture
def load(monkeypatch):
    """A loader of this package's, whose names are forgotten afterwards."""
    for name in ("Plan", "core"):
        monkeypatch.setattr(todoplan, name, getattr(todoplan, name))
    homes = {"core.plan.plan": ("Plan", "nowhere"), "core.commands": "commands"}
    return loader("todoplan", homes)


def test_a_name_comes_from_its_home(load):
    """A class from its module, a module by its own name."""
    assert load("Plan") is sys.modules["todoplan.core.plan.plan"].Plan
    assert load("commands") is sys.modules["todoplan.core.commands"]


def test_a_name_is_looked_for_once(load, monkeypatch):
    """It is an attribute of the package from then on."""
    monkeypatch.delattr(todoplan, "Plan")
    load("Plan")
    assert "Plan" in vars(todoplan)


def test_a_name_without_a_home_is_no_attribute(load):
    """As Python says it of any module."""
    with pytest.raises(AttributeError, match="module 'todoplan' has no attribute 'Plans'"):
        load("Plans")


def test_a_name_that_its_home_does_not_have_is_an_error(load):
    """A mistake in the table is not hidden."""
    with pytest.raises(AttributeError, match="nowhere"):
        load("nowhere")
