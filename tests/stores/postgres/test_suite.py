"""Both stores on a real server under the store suite."""

import pytest
from hypothesis import settings

from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore
from todoplan.testing.stores import AsyncStoreSuite, StoreSuite

OPENED = "from todoplan.stores import {0}; opened = lambda: {0}({1!r})"


class TestPostgresStore(StoreSuite):
    """A new store is a new schema."""

    kills = 3

    @pytest.fixture(autouse=True)
    def _server(self, postgres):
        self.server = postgres

    def store(self):
        return PostgresStore(self.server.fresh())

    def reopened(self, store):
        return PostgresStore(store.address.conninfo)

    def in_another_process(self, store):
        return OPENED.format("PostgresStore", store.address.conninfo)

    def close(self, store):
        store.close()


class TestAsyncPostgresStore(AsyncStoreSuite):
    """The same, awaited: by the same steps, so fewer lives of plans are drawn."""

    kills = 3
    drawing = settings(AsyncStoreSuite.drawing, max_examples=8)

    @pytest.fixture(autouse=True)
    def _server(self, postgres):
        self.server = postgres

    def store(self):
        return AsyncPostgresStore(self.server.fresh())

    def reopened(self, store):
        return AsyncPostgresStore(store.address.conninfo)

    def in_another_process(self, store):
        return OPENED.format("AsyncPostgresStore", store.address.conninfo)

    async def close(self, store):
        await store.close()
