"""Stores by their address."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from todoplan.errors import StoreError
from todoplan.stores import FileStore, MemoryStore, SqliteStore, open_store
from todoplan.stores.urls import project_store


@pytest.mark.parametrize(
    ("url", "kind", "name"),
    [
        ("sqlite:///plans.db", SqliteStore, "plans.db"),
        ("sqlite:///sub/my%20plans.db", SqliteStore, "sub/my plans.db"),
        ("file:///plans.json", FileStore, "plans.json"),
        ("plans.json", FileStore, "plans.json"),
        ("sub/plans.DB", SqliteStore, "sub/plans.DB"),
        ("plans.sqlite3", SqliteStore, "plans.sqlite3"),
        ("sqlite:///{}/plans", SqliteStore, "plans"),
        ("file:///{}/plans", FileStore, "plans"),
        *((url, MemoryStore, None) for url in ("memory:", "memory://", "memory:///")),
    ],
)
def test_a_file_is_named_from_the_current_folder(tmp_path, monkeypatch, url, kind, name):
    """By the third slash, as SQLAlchemy has it; a fourth is the root, a bare path has an ending."""
    monkeypatch.chdir(tmp_path)
    store = open_store(url.format(tmp_path))
    assert type(store) is kind
    assert name is None or store.path == tmp_path / name


@pytest.mark.parametrize("url", ["postgresql://ada@db/plans", "postgres:///plans"])
def test_a_server_is_asked_for_late(monkeypatch, url):
    """Its module needs an extra, and is imported for such an address only."""
    module = ModuleType("todoplan.stores.postgres")
    module.PostgresStore = lambda address: ["store", address]
    monkeypatch.setitem(sys.modules, "todoplan.stores.postgres", module)
    assert open_store(url) == ["store", url]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgrsql://ada:s3cret@db/plans", "'postgrsql://...'"),
        ("postgresql//ada:s3cret@db/plans", "'...'"),
        ("ada:s3cret@db://plans", "'...'"),
        ("mysql://db/plans?Password=s3cret", "'mysql://...'"),
        ("host=db password=s3cret", "'...'"),
    ],
)
def test_a_misspelled_address_is_shown_without_its_password(url, shown):
    """In the message and its data, which end in logs."""
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert str(caught.value).startswith(f"{shown} is no address of a store; write sqlite:///")
    assert "s3cret" not in f"{caught.value} {caught.value.data}"


@pytest.mark.parametrize(
    "url",
    [
        *("", "plans", "plans.txt", "mysql://db/plans", "sqlite://plans.db", "file://host/a.json"),
        *("sqlite:///", "sqlite:plans.db", "file:///", "memory:plans", "http://[", 7, None),
    ],
)
def test_what_is_no_address_is_told_with_examples(url):
    """A typing error does not make a file of that name."""
    with pytest.raises(StoreError, match="is no address of a store; write sqlite:///") as caught:
        open_store(url)
    assert caught.value.data == {"seen": url, "problem": "unknown_store"}


def test_the_store_of_a_project(tmp_path, monkeypatch):
    """In the nearest folder with a store or a repository, else here, else at home."""
    root, below = tmp_path / "project", tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    assert project_store(below) == below / ".todoplan" / "plans.db"
    (root / ".git").mkdir()
    assert project_store(below) == root / ".todoplan" / "plans.db"
    (root / "a" / ".todoplan").mkdir()
    monkeypatch.chdir(below)
    assert project_store() == root / "a" / ".todoplan" / "plans.db"
    monkeypatch.setattr("os.access", lambda *_: False)
    (tmp_path / "x").mkdir()
    assert project_store(tmp_path / "x") == Path.home() / ".todoplan" / "plans.db"
