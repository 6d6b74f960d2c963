"""An `AsyncStore` on PostgreSQL, by psycopg: plans in one table, their journals in another."""

from psycopg_pool import AsyncConnectionPool

from todoplan import Plan
from todoplan.codec import dump_journal, dump_plan, load_journal, load_plan

TABLES = """
create table if not exists plans (
    id text primary key, revision bigint not null, plan text not null
);
create table if not exists journal (
    id text references plans, revision bigint, entries text not null, primary key (id, revision)
);
"""


class PostgresStore:
    """Plans behind a pool of connections. Open it in the loop that uses it, and close it there."""

    def __init__(self, address):
        self.address = address
        self.pool = AsyncConnectionPool(address, min_size=1, max_size=4, open=False)

    async def open(self):
        """Connect, make the tables where there are none, and return the store."""
        await self.pool.open(wait=True)
        async with self.pool.connection() as db:
            await db.execute(TABLES)
        return self

    async def close(self):
        """Give the connections back."""
        await self.pool.close()

    async def load(self, plan_id):
        query = "select plan from plans where id = %s"
        async with self.pool.connection() as db:
            row = await (await db.execute(query, (plan_id,))).fetchone()
        return load_plan(row[0]) if row else Plan()

    async def entries(self, plan_id):
        query = "select entries from journal where id = %s order by revision"
        async with self.pool.connection() as db:
            rows = await (await db.execute(query, (plan_id,))).fetchall()
        return tuple(entry for row in rows for entry in load_journal(row[0]))

    async def append(self, plan_id, expected, entries, plan):
        first = "insert into plans values (%s, 0, %s) on conflict do nothing"
        update = "update plans set revision = %s, plan = %s where id = %s and revision = %s"
        values = (plan.revision, dump_plan(plan), plan_id, expected)
        async with self.pool.connection() as db:
            await db.execute(first, (plan_id, dump_plan(Plan())))
            if done := (await db.execute(update, values)).rowcount == 1:
                row = (plan_id, plan.revision, dump_journal(entries))
                await db.execute("insert into journal values (%s, %s, %s)", row)
        return done
