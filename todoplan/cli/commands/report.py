"""
`todoplan report`: a plan of a store as one file: a page with its life, or a picture.

The page is that of `todoplan replay --html`, of the plan's own journal: how it ended, a slider
through its life, and what the rules find beside the entries that they find it in.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import attrs

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.html_page import HtmlPrinter, save_page
from todoplan.cli.output.plan_svg import plan_svg
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Place
from todoplan.cli.recordings import Input, Run
from todoplan.codec import dump_journal
from todoplan.core.events.journal import Entry
from todoplan.errors import TodoplanError
from todoplan.transcripts.replay.findings import POLICIES

__all__ = ["report"]


def report(
    place: Place, html: Path | None, picture: Path | None, policy: str, screen: Screen
) -> int:
    """
    Write the page, the picture, or both (- is stdout); return the exit code.
    """
    # What rules find in a plan is for its reader: only what could not be done makes a code.
    run = Run(screen, POLICIES[policy], None)
    try:
        store, plan_id = place.opened()
        journal = store.entries(plan_id)
        if picture is not None:
            save_page(plan_svg(store.load(plan_id), plan_id), _file(picture), run, "picture")
        if html is not None:
            save_page(_page(plan_id, journal, run), _file(html), run)
    except TodoplanError as error:
        screen.complain(str(error))
        return UNREADABLE
    return UNREADABLE if run.exit_code == UNREADABLE else 0


def _file(out: Path) -> Path | None:
    return None if str(out) == "-" else out


def _page(plan_id: str, journal: Sequence[Entry], run: Run) -> str:
    printer = HtmlPrinter([entry.revision for entry in journal])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.jsonl"
        file.write_text(dump_journal(_from_the_start(journal)), encoding="utf-8")
        run.replay_all((Input(file, plan_id or "plan"),), printer.recording)
    printer.close(run)
    return printer.written


def _from_the_start(journal: Sequence[Entry]) -> Sequence[Entry]:
    """
    Return a journal as if it began with its first entry: one that was cut begins later.
    """
    before = journal[0].revision - len(journal[0].events) if journal else 0
    if not before:
        return journal
    return [attrs.evolve(each, revision=each.revision - before) for each in journal]
