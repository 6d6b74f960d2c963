"""`todoplan show`: a plan document, or a plan in the file of a `FileStore`, as people read it."""

from pathlib import Path

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen
from todoplan.cli.output.text import plan_lines
from todoplan.codec import load_plan
from todoplan.codec.text import LIMIT, parse, to_unicode
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, ReadError, StoreError
from todoplan.render.dot import to_dot
from todoplan.render.markdown import to_markdown
from todoplan.render.mermaid import to_mermaid
from todoplan.render.page import to_html
from todoplan.stores.file import FORMAT, FileStore
from todoplan.transcripts.files.source import unreadable

__all__ = ["PRINTERS", "show"]

PRINTERS = {"markdown": to_markdown, "mermaid": to_mermaid, "dot": to_dot, "html": to_html}
"""The formats beside text; `html` is a fragment of a page."""

_NAMED = 20


def show(path: Path, form: str, screen: Screen, plan_id: str | None = None) -> int:
    """
    Print the plan of a document (`text`, or a name in `PRINTERS`), and return the exit code.

    `plan_id` says which, of the plans that a `FileStore` keeps.
    """
    try:
        plan = _load(path, plan_id)
    except ReadError as error:
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
        if _format(document) == FORMAT:
            return _kept(path, plan_id)
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
        # One more than the limit: a file that is too large is not read to its end.
        document = file.read(LIMIT + 1)
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


def _kept(path: Path, plan_id: str | None) -> Plan:
    store = FileStore(path)
    try:
        kept = store.plan_ids()
        chosen = kept[0] if plan_id is None and len(kept) == 1 else plan_id
        if chosen in kept:
            return store.load(str(chosen))
    except (StoreError, CodecError) as error:
        raise ReadError(str(error), file=str(path)) from error
    seen = f"{len(kept)} plans" if plan_id is None else f"no plan {plan_id!r}"
    names = ", ".join(map(repr, kept[:_NAMED])) or "none"
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    msg = f"{path}: {seen}; choose by --plan: {names}{more}"
    raise ReadError(msg, file=str(path), plans=kept)
