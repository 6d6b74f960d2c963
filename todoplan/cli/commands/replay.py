"""`todoplan replay`: recordings through the core, for people or for programs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol

import attrs

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.html_page import HtmlPrinter, overwrites, save_page
from todoplan.cli.output.json_document import JsonPrinter
from todoplan.cli.output.markdown import MarkdownPrinter
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.text import TextPrinter
from todoplan.cli.recordings import Input, Run, expand, sample
from todoplan.errors import MissingExtraError
from todoplan.transcripts.replay.findings import POLICIES
from todoplan.transcripts.replay.recording import Replay

__all__ = ["Form", "ReplayOptions", "replay", "replay_sample"]

Form = Literal["text", "markdown", "json", "html", "otlp"]


class _Printer(Protocol):
    def recording(self, replay: Replay) -> None: ...

    def close(self, run: Run) -> None: ...


@attrs.frozen
class ReplayOptions:
    """
    How to replay: the form of the output, the policy and (or `None`) the dialect by name.

    `together` makes one plan of all recordings. `out` is the file that a page is written to,
    `endpoint` where spans are sent.
    """

    form: Form = "text"
    policy: str = "audit"
    dialect: str | None = None
    together: bool = False
    out: Path | None = None
    endpoint: str = ""


def replay(paths: Iterable[Path], options: ReplayOptions, screen: Screen) -> int:
    """
    Replay the recordings, and return the exit code.
    """
    inputs = tuple(expand(paths))
    if overwrites(options.out, inputs, screen):
        return UNREADABLE
    return _replay(inputs, options, screen)


def replay_sample(options: ReplayOptions, screen: Screen) -> int:
    """
    Replay the recording that comes with the package, and return the exit code.
    """
    with sample() as source:
        return _replay((source,), options, screen)


def _replay(inputs: Iterable[Input], options: ReplayOptions, screen: Screen) -> int:
    run = Run(screen, POLICIES[options.policy], options.dialect)
    try:
        printer = _printer(options, screen)
    except MissingExtraError as error:
        screen.complain(str(error))
        return UNREADABLE
    replay_them = run.replay_together if options.together else run.replay_all
    replay_them(inputs, printer.recording)
    printer.close(run)
    if isinstance(printer, HtmlPrinter) and printer.written:
        save_page(printer.written, options.out, run)
    return run.exit_code


def _printer(options: ReplayOptions, screen: Screen) -> _Printer:
    if options.form == "json":
        # Written as it is read: a document of many recordings would not fit the memory.
        printer = JsonPrinter(screen, options.policy)
        printer.open()
        return printer
    if options.form == "html":
        return HtmlPrinter()
    if options.form == "otlp":
        return _span_printer(options.endpoint, screen)
    return MarkdownPrinter(screen) if options.form == "markdown" else TextPrinter(screen)


def _span_printer(endpoint: str, screen: Screen) -> _Printer:
    try:
        from todoplan.cli.output.spans import SpanPrinter  # noqa: PLC0415 - an extra of its own
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(error.name, "otlp") from error
    return SpanPrinter(endpoint, screen)
