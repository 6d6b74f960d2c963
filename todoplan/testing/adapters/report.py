"""
A pytest plugin that prints the capabilities of each tested adapter.

    pytest -p todoplan.testing.adapters.report

With `-vv` it also prints the whole conversation of each failed check. `pytest_plugins =
["todoplan.testing.adapters.report"]` in the topmost conftest.py also enables it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

import pytest

from todoplan.testing.adapters.host import ALL, Capability, Checks

Suites = tuple[type[Checks], ...]
_SUITES = pytest.StashKey[Suites]()


def table(suites: Iterable[type[Checks]]) -> str:
    """
    Return a line for each suite with the capabilities that its adapter lacks, and their meanings.
    """
    listed = list(suites)
    width = max((len(_name(suite)) for suite in listed), default=0)
    lines = []
    for suite in listed:
        lacking = [each.name for each in Capability if each not in suite.capabilities]
        without = f", not {', '.join(lacking)}" if lacking else ""
        counted = f"{len(suite.capabilities)} of {len(ALL)} capabilities"
        lines.append(f"{_name(suite):{width}}  {counted}{without}")
    explained = [each for each in Capability if any(each not in s.capabilities for s in listed)]
    return "\n".join([*lines, *(f"{each.name}: {each}" for each in explained)])


def _name(suite: type[Checks]) -> str:
    return suite.__name__.removeprefix("Test")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Record the collected suites."""
    classes = (getattr(item, "cls", None) for item in session.items)
    suites = dict.fromkeys(cls for cls in classes if cls and issubclass(cls, Checks))
    session.config.stash[_SUITES] = tuple(suites)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With `-vv`, add the whole conversation to the report of a failed check."""
    report = yield
    error = call.excinfo and call.excinfo.value
    conversation = getattr(error, "conversation", "")
    if conversation and item.config.get_verbosity() > 1:
        report.sections.append(("the whole conversation", conversation))
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table if any suite was run."""
    suites = config.stash.get(_SUITES, ())
    if suites:
        terminalreporter.section("adapters")
        terminalreporter.write_line(table(suites))
