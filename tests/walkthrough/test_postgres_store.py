"""A store of one's own on a real PostgreSQL server, under the store suite."""

import os

import pytest
from support.postgres import binaries, server
from support.postgres_store import PostgresStore

from todoplan.testing.stores import AsyncStoreSuite


class TestPostgresStore(AsyncStoreSuite):
    """A new store is the same database, emptied."""

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _server(cls):
        if binaries() is None:
            missing = "no PostgreSQL binaries; install the package postgresql"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
        with server() as cls.address:
            yield

    async def store(self):
        store = await PostgresStore(self.address).open()
        async with store.pool.connection() as db:
            await db.execute("truncate plans, journal")
        return store

    async def reopened(self, store):
        return await PostgresStore(store.address).open()

    async def close(self, store):
        await store.close()
