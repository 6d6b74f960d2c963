"""`todoplan show`: a plan document, as people read it."""

from pathlib import Path

from todoplan.cli.as_text import plan_lines
from todoplan.cli.screen import Screen
from todoplan.codec import load_plan
from todoplan.codec.text import LIMIT
from todoplan.core.plan import Plan
from todoplan.errors import CodecError, ReadError
from todoplan.render.markdown import to_markdown
from todoplan.render.mermaid import to_mermaid
from todoplan.transcripts.source import unreadable

__all__ = ["PRINTERS", "show"]

PRINTERS = {"markdown": to_markdown, "mermaid": to_mermaid}
"""The formats beside text."""

_UNREADABLE = 2


def show(path: Path, form: str, screen: Screen) -> int:
    """
    Print the plan of a document (`text`, or a name in `PRINTERS`), and return the exit code.
    """
    try:
        plan = _load(path)
    except ReadError as error:
        screen.complain(str(error))
        return _UNREADABLE
    if form == "text":
        screen.show(plan_lines(plan, screen.out))
    else:
        screen.write(f"{PRINTERS[form](plan)}\n")
    return 0


def _load(path: Path) -> Plan:
    try:
        with path.open("rb") as file:
            document = file.read(LIMIT + 1)
        if len(document) > LIMIT:
            msg = f"{path}: larger than {LIMIT} bytes, so no plan document"
            raise ReadError(msg, file=str(path))
        return load_plan(document)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    except CodecError as error:
        msg = f"{path}: {error}"
        raise ReadError(msg, file=str(path)) from error
