"""A schema of its own on a real server for each test of the PostgreSQL stores."""

import psycopg
import pytest
from support.blocking import BlockingStore

from todoplan.stores.postgres import PostgresStore


@pytest.fixture
def address(postgres):
    """The address of a place where nothing is yet."""
    return postgres.fresh()


@pytest.fixture(params=[PostgresStore, BlockingStore], ids=["called", "awaited"])
def opened(request):
    """A function that opens a store at an address, and closes it at the end."""
    made = []

    def open_at(address, **options):
        made.append(request.param(address, **options))
        return made[-1]

    yield open_at
    for store in made:
        store.close()


@pytest.fixture
def store(opened, address):
    """A store where nothing is yet."""
    return opened(address)


@pytest.fixture
def sql(address):
    """A function that carries out a statement of its own beside the store."""
    with psycopg.connect(address, autocommit=True) as db:

        def run(query, *values):
            cursor = db.execute(query, values or None)
            return cursor.fetchall() if cursor.description else None

        yield run
