"""`todoplan replay`: recordings through the core, for people or for programs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol

import attrs

from todoplan.cli.as_json import JsonPrinter
from todoplan.cli.as_markdown import MarkdownPrinter
from todoplan.cli.as_text import TextPrinter
from todoplan.cli.inputs import Input, expand, sample
from todoplan.cli.runs import Run
from todoplan.cli.screen import Screen
from todoplan.transcripts.findings import POLICIES
from todoplan.transcripts.replaying import Replay

__all__ = ["Form", "Manner", "replay", "replay_sample"]

Form = Literal["text", "markdown", "json"]


class _Printer(Protocol):
    def recording(self, replay: Replay) -> None: ...

    def close(self, run: Run) -> None: ...


@attrs.frozen
class Manner:
    """
    How to replay: the form of the output, the policy and (or `None`) the dialect by name.
    """

    form: Form = "text"
    policy: str = "audit"
    dialect: str | None = None


def replay(paths: Iterable[Path], manner: Manner, screen: Screen) -> int:
    """
    Replay the recordings, and return the exit code.
    """
    return _replay(expand(paths), manner, screen)


def replay_sample(manner: Manner, screen: Screen) -> int:
    """
    Replay the recording that comes with the package, and return the exit code.
    """
    with sample() as source:
        return _replay((source,), manner, screen)


def _replay(inputs: Iterable[Input], manner: Manner, screen: Screen) -> int:
    run = Run(screen, POLICIES[manner.policy], manner.dialect)
    printer = _printer(manner, screen)
    run.over(inputs, printer.recording)
    printer.close(run)
    return run.exit_code


def _printer(manner: Manner, screen: Screen) -> _Printer:
    if manner.form == "json":
        printer = JsonPrinter(screen, manner.policy)
        printer.open()
        return printer
    return MarkdownPrinter(screen) if manner.form == "markdown" else TextPrinter(screen)
