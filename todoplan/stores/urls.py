"""Stores by their address: one text for programs, the command line and its environment."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit

from todoplan.errors import StoreError
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from todoplan.stores.postgres import PostgresStore

__all__ = ["open_store"]

_LEGAL = (
    "sqlite:///plans.db (or sqlite:////var/plans.db), postgresql://user@host/database, "
    "file:///plans.json, or memory:"
)
_BY_SUFFIX = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".json": "file"}


OpenedStore: TypeAlias = "FileStore | MemoryStore | PostgresStore | SqliteStore"


def open_store(url: str) -> OpenedStore:
    """
    Return the store at an address.

    `sqlite:///plans.db` is a file in the current folder, `sqlite:////var/plans.db` has a path from
    the root; so have `file:///plans.json` and `file:////var/plans.json`. A path alone is taken by
    its ending: .json for a FileStore, .db, .sqlite or .sqlite3 for a SqliteStore.

    Raises:
        StoreError: it is no address of a store.
        MissingExtraError: the extra that it needs is not installed.
    """
    given: object = url
    if not isinstance(given, str):
        raise _unknown(given)
    scheme, path = _split(url)
    if scheme in {"postgresql", "postgres"}:
        # Late: it needs an extra, and nobody else does.
        store: PostgresStore = import_module("todoplan.stores.postgres").PostgresStore(url)
        return store
    if scheme == "memory" and path in {"", "/"}:
        return MemoryStore()
    if scheme == "sqlite" and path:
        return SqliteStore(path)
    if scheme == "file" and path:
        return FileStore(path)
    raise _unknown(url)


def _split(url: str) -> tuple[str, str]:
    if "://" not in url and not url.startswith(("memory:", "sqlite:", "file:")):
        return _BY_SUFFIX.get(Path(url).suffix.lower(), ""), url
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    if parts.scheme not in {"sqlite", "file"}:
        return parts.scheme, parts.path
    # As SQLAlchemy has it: the third slash ends the host, what follows is the path. In
    # sqlite://plans.db the name would be that of a host, of which there is none.
    is_a_path = not parts.netloc and parts.path.startswith("/")
    return (parts.scheme, unquote(parts.path[1:])) if is_a_path else ("", url)


def _unknown(given: object) -> StoreError:
    seen = _without_secrets(given) if isinstance(given, str) else given
    msg = f"{seen!r} is no address of a store; write {_LEGAL}"
    return StoreError(msg, seen=seen, problem="unknown_store")


def _without_secrets(url: str) -> str:
    # It is misspelled, so nobody knows which part is the password: of an address with a user in it,
    # or libpq's "password=...", only what stands in front of the colon is shown, in a log for ever.
    if "@" not in url and "password" not in url.lower():
        return url
    scheme = url.partition("://")[0] if "://" in url else ""
    return f"{scheme}://..." if scheme.isalnum() else "..."
