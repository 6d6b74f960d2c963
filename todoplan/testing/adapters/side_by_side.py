"""Runs of a host: one, or several sessions side by side, in threads or as tasks of one loop."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from todoplan.testing.adapters.hosting import Host, Ran
from todoplan.testing.adapters.script import Script
from todoplan.testing.adapters.talks import Run

__all__ = ["Both", "SideBySide", "in_tasks", "in_threads", "run"]

Both = tuple[Ran, Script]
"""What a run left behind, and the script with the requests."""

SideBySide = Callable[[Host, Mapping[str, Run]], dict[str, Both]]
"""A way to run sessions at once."""


def run(host: Host, session: str, script: Script) -> Ran:
    """
    Run a session once, in a loop of its own.
    """

    async def once() -> Ran:
        return await host.run(session, script)

    return asyncio.run(once())


def in_threads(host: Host, runs: Mapping[str, Run]) -> dict[str, Both]:
    """
    Run sessions side by side, a thread each; their models answer together.
    """
    meet = Barrier(len(runs))
    scripts = {name: Script(*turns, meet=meet) for name, turns in runs.items()}
    with ThreadPoolExecutor(len(runs)) as pool:
        started = {name: pool.submit(run, host, name, scripts[name]) for name in runs}
        return {name: (future.result(), scripts[name]) for name, future in started.items()}


def in_tasks(host: Host, runs: Mapping[str, Run]) -> dict[str, Both]:
    """
    Run sessions side by side, as tasks of one loop; their models answer together.
    """
    ameet = asyncio.Barrier(len(runs))
    scripts = {name: Script(*turns, ameet=ameet) for name, turns in runs.items()}

    async def together() -> list[Ran]:
        return await asyncio.gather(*(host.run(name, scripts[name]) for name in runs))

    ended = asyncio.run(together())
    return {name: (ran, scripts[name]) for name, ran in zip(runs, ended, strict=True)}
