"""The board's answers: pages, plans, what a person does, and what is refused."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib.metadata import version
from urllib.parse import urlsplit

import httpx
import pytest
from support.stores_sound import AsyncSound

from todoplan import STRICT, MemoryStore, Planner
from todoplan.board import application, make_board
from todoplan.board.application import STATIC
from todoplan.core import commands
from todoplan.errors import CodecError, MissingExtraError, PlanError, StoreError
from todoplan.stores import SqliteStore
from todoplan.web import Access

JSON = {"Content-Type": "application/json"}


PATIENCE = 60


def request(app, method, path, **more):
    """Return the answer to one request; `headers`, `json` and `content` as in httpx."""

    async def ask():
        transport = httpx.ASGITransport(app)
        address = more.pop("address", "http://127.0.0.1:1")
        async with httpx.AsyncClient(transport=transport, base_url=address) as client:
            return await client.request(method, path, **more)

    return asyncio.run(ask())


@asynccontextmanager
async def events(app, path, **headers):
    """
    Yield a function that returns the next event of a stream: its name, id and data. The client
    hangs up at the end.
    """
    parts = urlsplit(path)
    named = {"host": "127.0.0.1:1", **{name.replace("_", "-"): v for name, v in headers.items()}}
    scope = {
        "type": "http",
        "method": "GET",
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    gone, sent = asyncio.Event(), asyncio.Queue()

    async def receive():
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        for block in message.get("body", b"").decode().split("\r\n\r\n"):
            if "data: " in block:
                await sent.put(dict(line.split(": ", 1) for line in block.splitlines()))

    async def next_event():
        found = await asyncio.wait_for(sent.get(), PATIENCE)
        return found["event"], found.get("id"), json.loads(found["data"])

    serving = asyncio.create_task(app(scope, receive, send))
    try:
        yield next_event
    finally:
        gone.set()
        await asyncio.wait_for(serving, PATIENCE)


@pytest.fixture
def store():
    """A store with the plan "garden" of two tasks, at revision 3."""
    kept = MemoryStore()
    items = [commands.CreateTask("Dig"), commands.CreateTask("Plant", blocked_by=("#0",))]
    Planner(kept, "garden").apply(commands.CreateTasks(items), actor="agent")
    return kept


def act(app, *, plan="garden", headers=JSON, **wish):
    """Send what a person wants, and give status and answer."""
    answer = request(app, "POST", f"/api/act?plan={plan}", json=wish, headers=headers)
    is_json = answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json() if is_json else answer.text


def first_event(store, path, plan_id=None, **headers):
    """Return the first event of a stream of a new board: its name, its id and its data."""

    async def read():
        board = make_board(store, plan_id=plan_id)
        async with events(board, path, **headers) as next_event:
            return await next_event()

    return asyncio.run(read())


def test_the_page_comes_with_its_policy(store):
    """Page and scripts are files of the package, and nothing else may run or be loaded."""
    app = make_board(store)
    page, script = request(app, "GET", "/"), request(app, "GET", "/static/main.js")
    assert (page.status_code, script.status_code) == (200, 200)
    for answer in (page, script):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'; script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in page.text
    assert "style=" not in page.text
    assert request(app, "GET", "/static/../application.py").status_code == 404


def test_what_others_wrote_is_what_they_published():
    """Each vendored file has its checksum, version and licence beside it."""
    folder = STATIC / "vendor"
    listed = json.loads((folder / "VENDORED.json").read_text("utf-8"))
    scripts = {path.name for path in folder.glob("*.js")}
    assert set(listed) == scripts
    for name, told in listed.items():
        assert sha256((folder / name).read_bytes()).hexdigest() == told["sha256"]
        assert told["version"] in (folder / name).read_text("utf-8")
        assert "Permission is hereby granted" in (folder / told["licence_file"]).read_text("utf-8")


def test_what_is_a_board_says_what_it_is(store):
    """Whether it can be written to, about which plan, in whose name, and the fields of a task."""
    told = request(make_board(store), "GET", "/api/board").json()
    fields = told.pop("fields")
    texts = {"active_form": "text", "owner": "text", "check": "text"}
    others = {"priority": ["", "high", "medium", "low"], "estimate": "number", "due": "date"}
    known = {"subject": "textarea", "description": "textarea", **texts, **others}
    assert {name: fields[name] for name in known} == known
    assert told == {"write": True, "plan": None, "person": "person", "named": True}
    other = make_board(store, plan_id="garden", person=lambda _: "ada", write=False)
    told = request(other, "GET", "/api/board").json()
    assert told.pop("fields") == fields
    assert told == {"write": False, "plan": "garden", "person": None, "named": False}


def test_a_person_acts_in_their_own_name(store):
    """The journal has who did it; a name is one short line."""
    app = make_board(store, person="somebody")
    assert act(app, do="status", task="1", status="in_progress", base=3)[0] == 200
    assert act(app, do="add", subject="Water", name="a\nda" + "x" * 99)[1]["accepted"]
    act(make_board(store, person=lambda _: "carl"), do="add", subject="Rake", name="not me")
    actors = [entry.actor for entry in Planner(store, "garden").history()]
    assert actors == ["agent", "somebody", "ada" + "x" * 37, "carl"]


def test_the_type_of_a_body_may_name_its_charset(store):
    """As many clients send it."""
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert act(make_board(store), headers=headers, do="add", subject="Water")[0] == 200


def test_a_refusal_is_in_plain_words(store):
    """The policy is everybody's; nothing is changed."""
    app = make_board(store, policy=STRICT)
    status, told = act(app, do="status", task="2", status="in_progress", base=3)
    assert (status, told["accepted"]) == (409, False)
    assert "those come first" in told["message"]
    assert store.load("garden").revision == 3


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"do": "dance"}, "a page asks for one of add, edit"),
        ({"do": ["add"]}, "a page asks for one of add, edit"),
        ({"do": "status", "task": "1"}, "status needs 'status'"),
        ({"do": "edit", "task": "1", "field": "status", "value": "x"}, "a page edits one of"),
        ({"do": "edit", "task": "1", "field": "estimate", "value": "soon"}, "soon"),
        ({"do": "edit", "task": "1", "field": "due", "value": "soon"}, "soon"),
        ({"do": "edit", "task": "1", "field": "due", "value": 3}, "3"),
        ({"do": "status", "task": "1", "status": "asleep"}, "asleep"),
        ({"do": "undo", "base": "3"}, "base is the revision"),
        ({"do": "approve", "base": -1}, "base is the revision"),
        ({"do": "add", "subject": 7}, "7"),
    ],
)
def test_what_no_page_asks_for_is_told(store, wish, words):
    """A wish that cannot be one is answered with what is allowed, and changes nothing."""
    status, told = act(make_board(store), **wish)
    assert (status, words in told["message"]) == (400, True)
    assert store.load("garden").revision == 3


@pytest.mark.parametrize("body", ["", "[1]", "{", "[" * 50_000, "\xff"])
def test_what_is_no_object_is_told(store, body):
    """Whatever is sent in place of JSON."""
    answer = request(make_board(store), "POST", "/api/act?plan=garden", content=body, headers=JSON)
    assert answer.status_code == 400
    assert "one JSON object" in answer.json()["message"]


def test_nothing_is_done_for_a_form_a_stranger_or_a_reader(store):
    """JSON only, to a plan that is there, of a reasonable size, where writing is allowed."""
    app = make_board(store)
    wish = {"do": "add", "subject": "x"}
    for kind in ("text/plain", "text/plain; application/json"):
        assert act(app, headers={"Content-Type": kind}, **wish)[0] == 415
    assert act(app, plan="other", **wish) == (404, "there is no such plan here\n")
    assert act(app, do="add", subject="x" * 70_000)[0] == 413
    assert act(make_board(store, plan_id="garden"), plan="other", **wish)[0] == 404
    assert act(make_board(store, write=False), **wish)[0] == 403
    assert store.load("garden").revision == 3


def test_elsewhere_is_read_only_and_asks_for_the_token(store):
    """Outside loopback nothing can be changed unless that is said, nothing read without token."""
    access = Access.at("192.0.2.7", "open-sesame")
    app, free = make_board(store, access=access), make_board(store, access=access, write=True)
    known = {**JSON, "Authorization": "Bearer open-sesame"}
    assert request(app, "GET", "/api/board").status_code == 401
    assert request(app, "GET", "/").status_code == 200
    assert request(app, "GET", "/api/board", headers=known).json()["write"] is False
    assert act(app, headers=known, do="add", subject="x")[0] == 403
    assert act(free, headers=known, do="add", subject="x")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:1"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_another_site_is_refused(store, headers, status):
    """By the Host that it had to name, the Origin that its browser adds, and whose page it is."""
    assert request(make_board(store), "GET", "/api/board", headers=headers).status_code == status


def test_only_requests_are_guarded(store):
    """What is no request, as a lifespan, goes through."""

    async def live():
        said = []
        messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive():
            return next(messages)

        async def send(message):
            said.append(message["type"])

        await make_board(store)({"type": "lifespan"}, receive, send)
        return said

    assert asyncio.run(live()) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_a_plan_comes_whole_and_then_its_changes(store):
    """First a snapshot, then what became of it, numbered by the revision."""

    async def read():
        planner = Planner(store, "garden")
        async with events(make_board(store), "/api/plan?plan=garden") as next_event:
            first = await next_event()
            planner.apply(commands.UpdateTask("1", status="completed"), actor="ada")
            return first, await next_event()

    first, second = asyncio.run(read())
    assert first[:2] == ("snapshot", "3")
    assert [task["subject"] for task in first[2]["tasks"]] == ["Dig", "Plant"]
    assert second[:2] == ("change", "4")
    assert [(task["id"], task["status"]) for task in second[2]["tasks"]] == [("1", "completed")]
    assert second[2]["rows"][0]["actor"] == "ada"


def test_a_page_that_was_cut_off_is_sent_what_came_since(store):
    """By the last event it got; what is no revision of the plan is answered with all of it."""
    planner = Planner(store, "garden")
    planner.apply(commands.DeleteTask("2"), actor="ada")
    path = "/api/plan?plan=garden"
    name, number, data = first_event(store, path, last_event_id="3")
    assert (name, number, data["gone"]) == ("change", str(planner.plan.revision), ["2"])
    assert first_event(store, path)[0] == "snapshot"
    for unknown in ("2", "99", "x", "9" * 40):
        assert first_event(store, path, last_event_id=unknown)[0] == "snapshot"


def test_the_list_of_plans_is_sent_again_when_one_changes(store, monkeypatch):
    """All plans of the store, each with how far it is; as long as nothing changes, nothing."""
    monkeypatch.setattr(application, "_LIST_PAUSE", 0.01)

    async def read():
        async with events(make_board(store), "/api/plans") as next_event:
            first = await next_event()
            await asyncio.sleep(0.1)
            Planner(store, "house").apply(commands.CreateTask("Paint"))
            return first, await next_event()

    (name, _, first), (_, _, second) = asyncio.run(read())
    assert name == "plans"
    assert [each["plan"] for each in first["plans"]] == ["garden"]
    assert [each["plan"] for each in second["plans"]] == ["garden", "house"]
    assert second["plans"][1]["counts"]["pending"] == 1


class Awaited(AsyncSound):
    """A store whose methods are awaited, as far as the board asks for them."""

    async def plan_ids(self):
        """All of them."""
        return self.kept.plan_ids()


def test_a_board_of_one_plan_lists_that_one(store):
    """Others in the store are not named."""
    Planner(store, "house").apply(commands.CreateTask("Paint"))
    plans = first_event(store, "/api/plans", "house")[2]["plans"]
    assert [each["plan"] for each in plans] == ["house"]


def test_a_store_that_is_awaited_is_shown_as_well(store):
    """The list of its plans, and a plan."""
    awaited = Awaited(store)
    assert first_event(awaited, "/api/plans")[2]["plans"][0]["plan"] == "garden"
    assert first_event(awaited, "/api/plan?plan=garden")[2]["revision"] == 3


def test_a_store_that_lists_no_plans_shows_the_one_that_is_named(store):
    """Three methods make a store; which plan is meant is then said."""
    bare = AsyncSound(store)
    assert request(make_board(bare), "GET", "/api/insight?plan=garden").status_code == 404
    named = make_board(bare, plan_id="garden")
    assert request(named, "GET", "/api/insight").json()["revision"] == 3
    assert request(named, "GET", "/api/insight?plan=house").status_code == 404


class Away(MemoryStore):
    """A store that cannot be reached."""

    def load(self, plan_id):
        """Never."""
        msg = "the database is away; try again"
        raise StoreError(msg, problem="gone")

    entries = entries_since = load

    def plan_ids(self):
        """It had one."""
        return ("garden",)


@pytest.mark.parametrize("path", ["/api/plan?plan=garden", "/api/plans"])
def test_a_store_that_is_away_is_told(path):
    """In its own words, by an event and by an answer."""
    told = first_event(Away(), path)
    assert told[::2] == ("trouble", {"message": "the database is away; try again"})
    answer = request(make_board(Away()), "GET", "/api/insight?plan=garden")
    assert (answer.status_code, answer.json()["message"][:16]) == (503, "the database is ")


class Damaged(MemoryStore):
    """A store in which the plan "house" can be damaged."""

    error = None

    def load(self, plan_id):
        """Unless it is damaged."""
        if self.error and plan_id == "house":
            raise self.error
        return super().load(plan_id)


@pytest.mark.parametrize(
    "error", [CodecError("entry 3 is no JSON"), StoreError("revision 2 is missing", problem="gap")]
)
def test_a_damaged_plan_does_not_hide_the_others(error):
    """It is listed with what is wrong with it, and they as if nothing were."""
    store = Damaged()
    for name in ("garden", "house"):
        Planner(store, name).apply(commands.CreateTask("Dig"))
    store.error = error
    name, _, data = first_event(store, "/api/plans")
    garden, house = data["plans"]
    assert (name, garden["plan"], garden["revision"]) == ("plans", "garden", 1)
    assert house == {"plan": "house", "trouble": str(error)}


class Leaving(MemoryStore):
    """A store that can be taken away, for good."""

    gone = False

    def entries_since(self, plan_id, revision):
        """What there is, until it is gone."""
        if self.gone:
            msg = "the database was dropped"
            raise StoreError(msg, problem="rolled_back")
        return super().entries_since(plan_id, revision)

    wait_for_change = None


def test_a_store_that_goes_away_for_good_ends_the_stream():
    """What was sent stays, and the last event says what is wrong."""
    store = Leaving()
    Planner(store, "garden").apply(commands.CreateTask("Dig"))

    async def read():
        async with events(make_board(store), "/api/plan?plan=garden") as next_event:
            first = await next_event()
            store.gone = True
            return first, await next_event()

    first, last = asyncio.run(read())
    assert (first[0], last) == (
        "snapshot",
        ("trouble", None, {"message": "the database was dropped"}),
    )


def test_older_rows_are_given_when_asked_for(store):
    """Of a long journal the last rows come first, and the ones before on request."""
    planner = Planner(store, "garden")
    for number in range(250):
        planner.apply(commands.UpdateTask("1", subject=f"Dig {number}"), actor="ada")
    app = make_board(store)
    snapshot = first_event(store, "/api/plan?plan=garden")[2]
    assert (len(snapshot["rows"]), snapshot["earlier"]) == (200, True)
    first = snapshot["rows"][0]["revision"]
    answer = request(app, "GET", f"/api/history?plan=garden&before={first}").json()
    assert answer["rows"][-1]["revision"] == first - 1
    assert answer["earlier"] is False
    assert request(app, "GET", "/api/history?plan=garden&before=x").status_code == 400
    assert request(app, "GET", "/api/history?plan=house&before=1").status_code == 404
    assert request(app, "GET", "/api/plan?plan=house").status_code == 404
    assert request(app, "GET", "/api/plan").status_code == 404


def test_insight_is_path_and_drift(store):
    """The critical path, and what has changed since somebody agreed to the plan."""
    app, planner = make_board(store), Planner(store, "garden")
    found = request(app, "GET", "/api/insight?plan=garden").json()
    assert (found["path"], found["drift"]["message"][:6]) == (["1", "2"], "Nobody")
    planner.apply(commands.ApprovePlan("bea"))
    found = request(app, "GET", "/api/insight?plan=garden").json()
    assert found["drift"]["message"] == "Nothing has changed in what was approved."
    planner.apply(commands.CreateTask("Paint"), actor="agent")
    came = request(app, "GET", "/api/insight?plan=garden").json()["drift"]["came"]
    assert [(each["task"], each["actor"]) for each in came] == [("3", "agent")]


def test_drift_that_cannot_be_known_is_told(tmp_path, store):
    """A journal that was cut behind the approval says so instead of an error."""
    planner = Planner(store, "garden")
    planner.apply(commands.ApprovePlan("bea"))
    moved = SqliteStore(tmp_path / "plans.db")
    Planner(moved, "garden").restore(planner.plan)
    found = request(make_board(moved), "GET", "/api/insight?plan=garden").json()
    assert "approve the plan again" in found["drift"]["message"]


def test_only_so_many_plans_are_kept_in_hand(store, monkeypatch):
    """Of a store with many plans, those that were asked for last."""
    monkeypatch.setattr(application, "_MOST_PLANS", 2)
    for name in ("house", "shed"):
        Planner(store, name).apply(commands.CreateTask("Paint"))
    app = make_board(store)
    for name in ("garden", "house", "shed", "garden"):
        assert request(app, "GET", f"/api/insight?plan={name}").status_code == 200


def test_what_is_no_store_fails_at_once():
    """Not when the first page is opened."""
    with pytest.raises(PlanError):
        make_board("plans.db")


def test_without_its_extra_the_command_is_named(monkeypatch):
    """What is missing, and how to get it."""
    monkeypatch.setitem(sys.modules, "sse_starlette", None)
    monkeypatch.delitem(sys.modules, "todoplan.board.application")
    # By the module itself: given its name, monkeypatch would import it, which fails here.
    for name in ("application", "make_board"):
        monkeypatch.delattr(sys.modules["todoplan.board"], name, raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[board\]'"):
        from todoplan.board import make_board as _  # noqa: F401, PLC0415 - it is asked for here
    assert version("todoplan")
