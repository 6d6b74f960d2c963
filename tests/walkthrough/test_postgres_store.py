"""A store of one's own on a real PostgreSQL server, under the store suite."""

import pytest
from support.postgres_store import PostgresStore

from todoplan.testing.stores import AsyncStoreSuite

pytestmark = pytest.mark.slow


class TestPostgresStore(AsyncStoreSuite):
    """A new store is the same database, emptied."""

    @pytest.fixture(autouse=True)
    def _server(self, postgres):
        self.address = postgres.address

    async def store(self):
        store = await PostgresStore(self.address).open()
        async with store.pool.connection() as db:
            await db.execute("truncate plans, journal")
        return store

    async def reopened(self, store):
        return await PostgresStore(store.address).open()

    async def close(self, store):
        await store.close()
