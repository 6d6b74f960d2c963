"""`todoplan show`: a plan document, or a plan in a store, as people read it."""

from pathlib import Path

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.text import plan_lines
from todoplan.cli.stored_plans import PlanStore, chosen_plan, open_store
from todoplan.codec import load_plan
from todoplan.codec.text import LIMIT, parse, to_unicode
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, MissingExtraError, ReadError, StoreError
from todoplan.render.dot import to_dot
from todoplan.render.markdown import to_markdown
from todoplan.render.mermaid import to_mermaid
from todoplan.render.page import to_html
from todoplan.stores.file import FORMAT, FileStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.transcripts.files.source import unreadable

__all__ = ["PRINTERS", "show"]

PRINTERS = {"markdown": to_markdown, "mermaid": to_mermaid, "dot": to_dot, "html": to_html}
"""The formats beside text; `html` is a fragment of a page."""

_SQLITE = b"SQLite format 3\0"


def show(path: Path | str, form: str, screen: Screen, plan_id: str | None = None) -> int:
    """
    Print the plan of a document (`text`, or a name in `PRINTERS`), and return the exit code.

    `path` is a file, or the address of a store as a text; `plan_id` says which of its plans.
    """
    try:
        if isinstance(path, str):
            plan = _kept(path, open_store(path), plan_id)
        else:
            plan = _load(path, plan_id)
    except (ReadError, StoreError, MissingExtraError) as error:
        screen.complain(str(error))
        return UNREADABLE
    if form == "text":
        screen.show(plan_lines(plan, screen.out))
    else:
        screen.write(f"{PRINTERS[form](plan)}\n")
    return 0


def _load(path: Path, plan_id: str | None) -> Plan:
    try:
        document = _read(path)
        if document.startswith(_SQLITE):
            return _kept(path, SqliteStore(path), plan_id)
        if _format(document) == FORMAT:
            return _kept(path, FileStore(path), plan_id)
        if plan_id is not None:
            msg = f"{path} holds one plan, which has no name: leave out --plan {plan_id}"
            raise ReadError(msg, file=str(path))
        return load_plan(document)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    except CodecError as error:
        msg = f"{path}: {error}"
        raise ReadError(msg, file=str(path)) from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
        if head == _SQLITE:
            return head
        # One more than the limit: a file that is too large is not read to its end.
        document = head + file.read(LIMIT + 1)
    if len(document) > LIMIT:
        msg = f"{path} is larger than {LIMIT} bytes, which no plan document is"
        raise ReadError(msg, file=str(path))
    return document


def _format(document: bytes) -> object:
    # What is no JSON is left to `load_plan`, whose error says where it breaks.
    try:
        data = parse(to_unicode(document, LIMIT))
    except CodecError:
        return None
    return data.get("format") if isinstance(data, dict) else None


def _kept(named: Path | str, store: PlanStore, plan_id: str | None) -> Plan:
    try:
        return store.load(chosen_plan(store, plan_id, named))
    except (StoreError, CodecError) as error:
        raise ReadError(str(error), file=str(named)) from error
