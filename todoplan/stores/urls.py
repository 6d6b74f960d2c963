"""Opening a store by its URL, and finding the default store of a project."""

import os
import re
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


_LEGAL = (
    "sqlite:///plans.db (or sqlite:////var/plans.db), postgresql://user@host/database, "
    "file:///plans.json, or memory:"
)
# In postgresql://user:password@host and in ?password=...&...
_PASSWORD = re.compile(r"(?<=://)([^:/@]*:)[^@]*(?=@)|(?<=[?&])(password=)[^&]*")
_BY_SUFFIX = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".json": "file"}


FOLDER = ".todoplan"
"""The folder of a project's default store."""

_IGNORED = "# Plans are no part of the repository. Delete this file to keep them in it.\n*\n"


OpenedStore: TypeAlias = "FileStore | MemoryStore | PostgresStore | SqliteStore"


def open_store(url: str) -> OpenedStore:
    """
    Return the store at a URL.

    `sqlite:///plans.db` is a file in the working directory; `sqlite:////var/plans.db` is an
    absolute path. The same holds for `file:///plans.json` and `file:////var/plans.json`. The suffix
    of a plain path selects the store: .json a FileStore; .db, .sqlite or .sqlite3 a SqliteStore.

    Raises:
        StoreError: the text is not the URL of a store.
        MissingExtraError: the extra that the store needs is not installed.
    """
    given: object = url
    if not isinstance(given, str):
        raise _unknown(given)
    if "://" not in url and not url.startswith(("memory:", "sqlite:", "file:")):
        scheme, path = _BY_SUFFIX.get(Path(url).suffix.lower(), ""), url
    else:
        try:
            parts = urlsplit(url)
        except ValueError:
            raise _unknown(url) from None
        scheme, path = parts.scheme, parts.path
        if scheme in {"sqlite", "file"}:
            # As in SQLAlchemy: the third slash ends the host, and the path follows. In
            # sqlite://plans.db the name would be a host, but a file has no host.
            if parts.netloc or not path.startswith("/"):
                raise _unknown(url)
            path = unquote(path[1:])
    if scheme in {"postgresql", "postgres"}:
        # Imported late, because it needs an extra that no other store needs.
        store: PostgresStore = import_module("todoplan.stores.postgres").PostgresStore(url)
        return store
    if scheme == "memory" and path in {"", "/"}:
        return MemoryStore()
    if scheme == "sqlite" and path:
        return SqliteStore(path)
    if scheme == "file" and path:
        return FileStore(path)
    raise _unknown(url)


def project_store(directory: Path | None = None) -> Path:
    """
    Return the absolute path of a directory's default store: `.todoplan/plans.db` of its project.

    The project is the nearest directory with a folder `.todoplan` or a `.git`, from `directory`
    (by default the working directory) upwards. If there is none, it is `directory` itself, or the
    home directory if `directory` is not writable. Nothing is created.
    """
    here = (directory or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir() or (folder / ".git").exists():
            return folder / FOLDER / "plans.db"
    return (here if os.access(here, os.W_OK) else Path.home()) / FOLDER / "plans.db"


def make_project_store(path: Path) -> None:
    """
    Make the folder of a default store. Only the folder's owner can read it, and Git ignores it.

    Raises:
        StoreError: the folder cannot be made.
    """
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        (path.parent / ".gitignore").write_text(_IGNORED, "utf-8")
    except OSError as error:
        msg = f"the folder of {path} cannot be made: {error.strerror}; name a store by --store"
        raise StoreError(msg, problem="no_folder") from error


def without_password(address: str) -> str:
    """Return the address of a store with `***` for its password, for messages."""
    return _PASSWORD.sub(lambda match: f"{match[1] or match[2]}***", address)


def _unknown(address: object) -> StoreError:
    seen = address
    if isinstance(address, str) and ("@" in address or "password" in address.lower()):
        # There may be a password in it, but where is unknown, because the URL is misspelled. Only
        # the scheme is shown, because error messages stay in logs.
        scheme, separator, _ = address.partition("://")
        seen = f"{scheme}://..." if separator and scheme.isalnum() else "..."
    msg = f"{seen!r} is no address of a store; write {_LEGAL}"
    return StoreError(msg, seen=seen, problem="unknown_store")
