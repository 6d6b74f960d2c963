"""The board in a real Chromium: what it shows, what a person does, and what cannot hurt it."""

from contextlib import ExitStack
from datetime import date
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from support.browser import PATIENCE, TEXTS, Served, faults, sound_page

from todoplan import STRICT, Limits, MemoryStore, Planner, Policy
from todoplan.board.application import FIELDS
from todoplan.core import commands
from todoplan.core.plan.model import Waiting
from todoplan.core.plan.questions import ready

pytestmark = pytest.mark.slow

expect.set_options(timeout=PATIENCE)
LARGE = Policy(limits=Limits(items=20_000, open_items=20_000))


@pytest.fixture(scope="module")
def served():
    """A board of a store with several plans."""
    board = Served(MemoryStore(), person="person")
    yield board
    board.stop()


@pytest.fixture
def plan(served, request):
    """A planner of a plan of this test alone, with three tasks in a row."""
    planner = Planner(served.store, request.node.name)
    items = [commands.CreateTask(text, blocked_by=by) for text, by in ROW]
    planner.apply(commands.CreateTasks(items), actor="agent")
    return planner


ROW = (("Dig", ()), ("Plant", ("#0",)), ("Water", ("#1",)))


@pytest.fixture
def pages(browser, served, request):
    """A function that opens a page; what goes wrong on one fails the test."""
    # A server that is away is told as an error by the browser, whatever the page makes of it.
    away = "Failed to load resource"
    with ExitStack() as opened:

        def open_page(*, name="ann", url=served.url, plan=request.node.name, **options):
            size = {"viewport": {"width": 1280, "height": 800}}
            page = opened.enter_context(sound_page(browser, away, **{**size, **options}))
            page.add_init_script(f"localStorage.setItem('todoplan-name', {name!r})")
            page.asked = []
            page.on("request", lambda asked: page.asked.append(asked))  # noqa: PLW0108 - no builtin
            page.goto(url if plan is None else f"{url}?{urlencode({'plan': plan})}")
            return page

        yield open_page


def card(page, text):
    """The card of a task."""
    return page.locator(".card", has_text=text)


def cards(page, status):
    """The texts of a column."""
    return page.locator(f".column.{status} .card .text")


def test_a_change_shows_at_once_whoever_makes_it(pages, plan, served):
    """In every view, without anything being asked for; all that is loaded is the server's own."""
    page = pages()
    expect(cards(page, "pending")).to_have_text(["Dig", "Plant", "Water"])
    plan.apply(commands.UpdateTask("1", status="in_progress"), actor="agent")
    expect(cards(page, "in_progress")).to_have_text(["Dig"])
    plan.apply(commands.MoveTask("3", before="2"), actor="agent")
    expect(cards(page, "pending")).to_have_text(["Water", "Plant"])
    plan.apply(commands.CreateTask("Dig deeper", parent="1"), actor="agent")
    page.get_by_role("tab", name="Tree").click()
    item = page.get_by_role("treeitem").filter(has_text="Dig deeper")
    expect(item).to_have_attribute("aria-level", "2")
    plan.apply(commands.DeleteTask("4"), actor="agent")
    expect(item).to_have_count(0)
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".timeline .entry").first).to_contain_text("removed #4")
    page.get_by_role("tab", name="Graph").click()
    expect(page.locator(".graph .box")).to_have_count(3)
    expect(page.locator(".graph .arrow")).to_have_count(2)
    assert {asked.url.startswith(served.url) for asked in page.asked} == {True}


@pytest.mark.usefixtures("plan")
def test_a_field_without_a_row_in_the_script_has_its_name_as_label(pages, monkeypatch):
    """The server names it with its control; it is in the last section."""
    monkeypatch.setitem(FIELDS, "place_of_work", "date")
    page = pages()
    card(page, "Dig").click()
    field = page.locator(".fields.More").get_by_label("Place of work", exact=True)
    expect(field).to_have_attribute("type", "date")


def test_a_person_acts_and_the_journal_says_who(pages, plan):
    """Add, edit, reorder, start, complete, wait, answer, approve, undo: in the person's name."""
    page = pages(name="bea")
    page.get_by_label("New task").fill("Harvest")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(cards(page, "pending")).to_have_text(["Dig", "Plant", "Water", "Harvest"])
    card(page, "Dig").click()
    page.get_by_label("Title", exact=True).fill("Dig the bed")
    page.get_by_label("Assignee").fill("carl")
    expect(page.locator(".editor h2")).to_have_text("#1 Dig the bed")
    page.get_by_label("Priority").select_option("high")
    page.get_by_label("Estimate").fill("30")
    page.get_by_label("Due").fill("2199-12-31")
    page.get_by_role("button", name="Move down").click()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    page.keyboard.press("Escape")
    card(page, "Plant").click()
    page.get_by_label("Wait for").fill("rain")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".editor .state")).to_contain_text("waiting")
    page.keyboard.press("Escape")
    page.get_by_label("Answer for #2").fill("it rains")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.get_by_label("Answer for #2")).to_have_count(0)
    page.get_by_role("button", name="Approve the plan").click()
    expect(page.get_by_text("Nothing has changed in what was approved.")).to_be_visible()
    card(page, "Water").click()
    page.get_by_role("button", name="Cancel").click()
    page.keyboard.press("Escape")
    expect(cards(page, "cancelled")).to_have_text(["Water"])
    page.get_by_role("button", name="Undo the last change").click()
    expect(cards(page, "pending")).to_have_text(["Plant", "Water", "Harvest"])
    now = plan.plan
    dig = now["1"]
    assert (dig.subject, dig.owner, dig.priority) == ("Dig the bed", "carl", "high")
    assert (dig.estimate, dig.due) == (30, date(2199, 12, 31))
    assert [task.id for task in now] == ["2", "1", "3", "4"]
    assert (now["2"].answer, now.approved.by) == ("it rains", "bea")
    assert {entry.actor for entry in plan.history()[1:]} == {"bea"}


def test_what_waits_is_asked_on_the_page(pages, plan):
    """The question, for whom, and a field whose half-written answer a change does not take."""
    wait = Waiting("the gardener", question="Which bed?")
    plan.apply(commands.UpdateTask("1", waiting=wait), actor="agent")
    page = pages()
    panel = page.get_by_role("region", name="Waiting on")
    expect(panel).to_contain_text("for the gardener")
    expect(panel).to_contain_text("Which bed?")
    field = page.get_by_label("Answer for #1")
    field.press_sequentially("the left")
    plan.apply(commands.CreateTask("Rake"), actor="agent")
    expect(card(page, "Rake")).to_be_visible()
    field.press_sequentially(" one\n")
    expect(panel).to_be_hidden()
    assert plan.plan["1"].answer == "the left one"


def test_claims_show_their_holder_and_drift_shows_what_came(pages, plan):
    """Who may work on a task now, how long; and what changed since somebody agreed to the plan."""
    plan.apply(commands.ApprovePlan("bea"), actor="bea")
    plan.apply(commands.ClaimTask("worker-7", lease=600), actor="worker-7")
    plan.apply(commands.CreateTask("Build a shed"), actor="worker-7")
    page = pages()
    expect(page.get_by_role("region", name="Claims")).to_contain_text("worker-7, 10 min left")
    drift = page.get_by_role("region", name="Changes since approval")
    expect(drift).to_contain_text("Added #4 Build a shed (worker-7)")
    card(page, "Dig").click()
    page.get_by_role("button", name="Complete").click()
    expect(page.locator(".editor .refused")).to_contain_text("claimed by")
    page.get_by_role("button", name="Release the claim").click()
    expect(page.get_by_role("button", name="Release the claim")).to_have_count(0)
    assert plan.plan["1"].claim is None


def test_a_refusal_is_told_in_plain_words(pages, plan, served):
    """The same policy as everybody's, also for a drop, and the page says what it says."""
    strict = Served(served.store, policy=STRICT)
    try:
        page = pages(url=strict.url)
        card(page, "Water").click()
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.locator(".editor .refused")).to_contain_text("those come first")
        page.keyboard.press("Escape")
        card(page, "Water").drag_to(page.locator(".column.in_progress"))
        expect(page.get_by_role("alert").first).to_contain_text("those come first")
        expect(cards(page, "pending")).to_have_text(["Dig", "Plant", "Water"])
        assert plan.plan["3"].status == "pending"
        page.context.close()
    finally:
        strict.stop()


def test_two_pages_lose_nothing(pages, plan):
    """Two people write in one task: fields stay apart, and of the same field both are told."""
    ann, bea = pages(name="ann"), pages(name="bea")
    for page in (ann, bea):
        card(page, "Dig").click()
    mine = ann.get_by_label("Title", exact=True)
    mine.press("End")
    mine.press_sequentially(" and rake")
    bea.get_by_label("Title", exact=True).fill("Dig by hand")
    bea.get_by_label("Assignee").fill("bea")
    bea.keyboard.press("Tab")
    expect(ann.locator("#field-subject-note")).to_contain_text("bea has set this to “Dig by hand”")
    expect(mine).to_have_value("Dig and rake")
    expect(ann.get_by_label("Assignee")).to_have_value("bea")
    mine.press("Enter")
    expect(bea.get_by_label("Title", exact=True)).to_have_value("Dig and rake")
    assert (plan.plan["1"].subject, plan.plan["1"].owner) == ("Dig and rake", "bea")
    mine.fill("Dig again")
    plan.apply(commands.UpdateTask("1", subject="Dig with a spade"), actor="agent")
    ann.get_by_role("button", name="Take theirs").click()
    expect(mine).to_have_value("Dig with a spade")


def test_a_page_goes_on_where_it_was_cut_off(pages, plan, served):
    """The server ends, the plan goes on; when it is back the page asks for what came since."""
    page = pages()
    expect(card(page, "Dig")).to_be_visible()
    known = plan.plan.revision
    served.stop()
    try:
        expect(page.locator(".live")).to_have_text("not connected, trying again")
        page.get_by_label("New task").fill("Nobody hears this")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("nothing was changed")
        plan.apply(commands.UpdateTask("1", status="completed"), actor="agent")
    finally:
        served.start()
    expect(cards(page, "completed")).to_have_text(["Dig"])
    expect(page.locator(".live")).to_have_text("live")
    last = [asked.headers.get("last-event-id") for asked in page.asked if "api/plan?" in asked.url]
    assert last[0] is None
    assert set(last[1:]) == {str(known)}


@pytest.mark.parametrize("place", range(0, len(TEXTS), 90))
def test_no_text_of_a_task_ever_runs(pages, plan, place):
    """Hostile texts in every field are shown, in every view, and do nothing."""
    for text in TEXTS[place : place + 90]:
        wait = Waiting(text, question=text)
        made = commands.CreateTask(
            text, description=text, owner=text, check=text, waiting=wait, blocked_by=("1",)
        )
        plan.apply(made, actor=text)
    plan.apply(commands.ApprovePlan(TEXTS[place]), actor=TEXTS[place])
    page = pages()
    for tab in ("Board", "Tree", "Graph", "Timeline"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(50)
    page.get_by_role("tab", name="Board").click()
    for task in [task for task in plan.plan if task.waiting][:3]:
        page.locator(f"[data-id='{task.id}'] .card").click()
        page.keyboard.press("Escape")
    markup = page.evaluate(
        "() => [...document.querySelectorAll('script, style, iframe, img, object, base')].length"
    )
    # Its own two scripts.
    assert markup == 2
    assert page.evaluate("() => typeof window.pwned") == "undefined"


def test_ten_thousand_tasks_stay_usable(pages, served, request):
    """What can be seen is in the page and no more; the last task is one key away; it stays live."""
    planner = Planner(served.store, request.node.name)
    for start in range(0, 10_000, 1_000):
        items = [
            commands.CreateTask(f"Task {start + i}", blocked_by=(f"#{i - 1}",) if i % 4 else ())
            for i in range(1_000)
        ]
        planner.apply(commands.CreateTasks(items), actor="agent", policy=LARGE).unwrap()
    page = pages()
    expect(card(page, "Task 3").first).to_be_visible()
    assert page.locator(".card").count() < 60
    page.locator(".card").first.focus()
    page.keyboard.press("End")
    expect(page.locator("[data-id='10000'] .card")).to_be_focused()
    last = commands.UpdateTask("10000", subject="The last one")
    planner.apply(last, actor="agent", policy=LARGE).unwrap()
    expect(page.locator("[data-id='10000'] .card")).to_contain_text("The last one")
    page.get_by_label("Find").fill("the last")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_label("Find").fill("")
    page.get_by_role("tab", name="Tree").click()
    expect(page.get_by_role("treeitem").first).to_be_visible()
    assert page.get_by_role("treeitem").count() < 80
    page.get_by_role("tab", name="Graph").click()
    expect(page.locator(".graphs .quiet")).to_contain_text("of 10000 tasks with arrows are drawn")


def test_all_can_be_done_by_the_keyboard(pages, plan):
    """Tab to the cards, arrows among them, Enter opens, Escape goes back to where one was."""
    page = pages()
    expect(card(page, "Dig")).to_be_visible()
    page.get_by_role("button", name="Undo the last change").focus()
    page.keyboard.press("Tab")
    expect(card(page, "Dig")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    expect(cards(page, "pending")).to_have_text(["Dig", "Water", "Plant"])
    expect(card(page, "Plant")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".editor h2")).to_have_text("#2 Plant")
    page.keyboard.press("Escape")
    expect(card(page, "Plant")).to_be_focused()
    page.get_by_role("tab", name="Board").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Tree")).to_be_focused()
    plan.apply(commands.CreateTask("Dig deeper", parent="1"), actor="agent")
    expect(page.get_by_role("treeitem")).to_have_count(4)
    item = page.get_by_role("treeitem", name="#1 Dig , To do")
    item.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem")).to_have_count(3)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem").filter(has_text="Dig deeper")).to_be_focused()


def test_closing_the_editor_leaves_a_focus_that_was_moved(pages, plan):
    """The event of a closed dialog comes late, and leaves a focus that the person has moved."""
    page = pages()
    card(page, "Plant").press("Enter")
    expect(page.locator(".editor h2")).to_have_text("#2 Plant")
    page.evaluate(
        """() => new Promise((done) => {
            const dialog = document.querySelector("dialog");
            dialog.addEventListener("close", () => setTimeout(done));
            dialog.close();
            document.querySelector("#tab-columns").focus();
        })"""
    )
    expect(page.get_by_role("tab", name="Board")).to_be_focused()


def test_a_change_during_a_press_loses_no_click(pages, plan):
    """What another actor changes between press and release is drawn after the click."""
    page = pages()
    card(page, "Plant").click()
    page.get_by_role("button", name="Start", exact=True).hover()
    page.mouse.down()
    plan.apply(commands.UpdateTask("2", subject="Plant leeks"), actor="agent")
    page.wait_for_timeout(500)
    page.mouse.up()
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
    expect(page.locator(".editor h2")).to_have_text("#2 Plant leeks")
    assert plan.plan["2"].status == "in_progress"


def test_two_quick_changes_of_one_person_do_not_hinder_each_other(pages, plan):
    """Who acts again before the page shows the first change has seen it: it was their own."""
    page = pages()
    for text in ("Rake", "Sow"):
        page.get_by_label("New task").fill(text)
        page.keyboard.press("Enter")
        expect(card(page, text)).to_be_visible()
    undo = page.get_by_role("button", name="Undo the last change")
    undo.evaluate("button => { button.click(); button.click(); }")
    expect(cards(page, "pending")).to_have_text(["Dig", "Plant", "Water"])
    expect(page.get_by_role("alert")).to_be_empty()


def test_a_card_is_dragged_to_another_column_and_within_its_own(pages, plan):
    """To another status; and in its column to another place in the plan, beside its siblings."""
    plan.apply(commands.CreateTask("Deeper", parent="1"), actor="agent")
    page = pages()
    card(page, "Water").drag_to(page.locator(".column.in_progress"))
    expect(cards(page, "in_progress")).to_have_text(["Water"])
    expect(card(page, "Water")).to_be_focused()
    card(page, "Water").drag_to(page.locator(".column.cancelled"))
    expect(cards(page, "cancelled")).to_have_text(["Water"])
    expect(cards(page, "pending")).to_have_text(["Dig", "Deeper", "Plant"])
    card(page, "Plant").drag_to(card(page, "Dig"), target_position={"x": 40, "y": 4})
    expect(cards(page, "pending")).to_have_text(["Plant", "Dig", "Deeper"])
    card(page, "Dig").hover()
    page.mouse.down()
    card(page, "Deeper").hover(position={"x": 40, "y": 60})
    expect(page.locator(".column.pending.target .drop-line")).to_be_visible()
    page.locator(".column.completed").hover()
    expect(page.locator(".column.completed.target")).to_be_visible()
    page.locator("#head").hover()
    expect(page.locator(".drop-line, .target")).to_have_count(0)
    page.mouse.up()
    # Where it is already, and in no column, a drop changes nothing.
    before = plan.plan.revision
    card(page, "Deeper").drag_to(card(page, "Dig"), target_position={"x": 40, "y": 4})
    card(page, "Dig").drag_to(page.locator("#head"))
    expect(page.locator(".drop-line, .target")).to_have_count(0)
    assert plan.plan.revision == before
    assert {entry.actor for entry in plan.history()[2:]} == {"ann"}


def test_a_card_goes_to_another_column_by_the_keyboard(pages, plan):
    """Alt with an arrow to the side sets the status, and the focus goes with the card."""
    page = pages()
    card(page, "Plant").focus()
    page.keyboard.press("Alt+ArrowRight")
    expect(cards(page, "in_progress")).to_have_text(["Plant"])
    expect(card(page, "Plant")).to_be_focused()
    page.keyboard.press("Alt+ArrowRight")
    expect(cards(page, "completed")).to_have_text(["Plant"])
    expect(card(page, "Plant")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator(".editor h2")).to_have_text("#2 Plant")


def test_a_card_says_whose_it_is_when_it_is_due_and_how_it_stands(pages, plan):
    """Initials, due and priority; unverified; held by; the wait, however it was written."""
    plan.apply(
        commands.UpdateTask(
            "1", owner="Ann Lee", priority="high", due=date(2020, 2, 3), metadata={"tags": ["soil"]}
        ),
        actor="agent",
    )
    plan.apply(commands.UpdateTask("2", waiting=Waiting("for ann")), actor="agent")
    plan.apply(commands.ClaimTask("worker-7", task_id="1"), actor="Ann Lee")
    plan.apply(commands.CreateTask("Rake", check="no stones", owner="bea"), actor="agent")
    plan.apply(commands.UpdateTask("4", status="completed"), actor="agent")
    plan.apply(commands.CreateTask("Sow", due=date(2999, 5, 6)), actor="agent")
    page = pages()
    expect(card(page, "Plant").locator(".waiting")).to_have_text("waiting for ann")
    expect(page.get_by_role("region", name="Waiting on").locator("p")).to_have_text("for ann")
    expect(card(page, "Rake").locator(".unverified")).to_have_text("unverified")
    expect(card(page, "Rake").get_by_title("assigned to bea")).to_contain_text("B")
    expect(card(page, "Dig").locator(".late")).to_contain_text("overdue")
    expect(card(page, "Dig").locator(".late")).to_contain_text("2020")
    expect(card(page, "Dig").locator(".label.high")).to_have_text("high")
    expect(card(page, "Sow").locator(".due")).to_contain_text("due")


def test_a_worker_says_why_it_failed(pages, plan):
    """What the worker raised and how often it tried, on the card; in full in the panel."""
    mine = commands.ClaimTask("worker-7", task_id="1", attempts=2)

    def fail(held):
        with held:
            msg = f"the server says <b>451</b> {'x' * 300} the end"
            raise ConnectionError(msg)

    with pytest.raises(ConnectionError):
        fail(plan.claim(mine))
    page = pages()
    why = card(page, "Dig").locator(".why")
    expect(why).to_contain_text("failed: attempt 1: ConnectionError: the server says <b>451</b>")
    held = plan.claim(mine)
    expect(card(page, "Dig").locator(".claim")).to_have_text("held by worker-7")
    expect(card(page, "Dig").locator(".attempt")).to_have_text("attempt 2")
    expect(card(page, "Dig").get_by_title("held by worker-7")).to_contain_text("W7")
    with pytest.raises(ConnectionError):
        fail(held)
    assert plan.claim(mine) is None
    expect(cards(page, "failed")).to_have_text(["Dig"])
    expect(why).to_contain_text("failed: gave up after 2 attempts: ConnectionError")
    card(page, "Dig").click()
    expect(page.locator(".editor .proof")).to_contain_text("the end")
    expect(page.locator(".editor .state")).to_contain_text("Failed")
    expect(page.get_by_role("region", name="Status")).to_contain_text("by worker-7")


def test_on_a_phone_the_cards_come_first(pages, plan):
    """One line is above the columns, and the first card within 120 pixels of the top."""
    plan.apply(commands.UpdateTask("3", waiting=Waiting("ann", question="Now?")), actor="agent")
    page = pages(viewport={"width": 390, "height": 844}, has_touch=True)
    assert card(page, "Dig").bounding_box()["y"] <= 120
    assert page.locator("#head").bounding_box()["height"] <= 52
    page.get_by_role("button", name="Add, find").click()
    expect(page.get_by_label("New task")).to_be_focused()
    page.get_by_label("New task").fill("Harvest")
    page.keyboard.press("Enter")
    expect(cards(page, "pending")).to_have_text(["Dig", "Plant", "Water", "Harvest"])
    page.get_by_role("button", name="Add, find").click()
    page.get_by_role("link", name="0/4, 1 waiting").click()
    expect(page.get_by_label("Answer for #3")).to_be_in_viewport()
    page.get_by_role("tab", name="Tree").click()
    expect(page.get_by_role("treeitem").first).to_be_in_viewport()


def test_what_is_empty_says_what_to_do(pages, plan):
    """A store without plans, a column without tasks, a search without a match."""
    page = pages()
    expect(page.locator(".column.in_progress .empty")).to_contain_text("press Start")
    page.get_by_label("Find").fill("nothing of the kind")
    expect(page.locator(".column.pending .empty")).to_have_text("No match.")
    alone = Served(MemoryStore())
    try:
        page = pages(url=alone.url, plan=None)
        expect(page.locator(".plans .empty")).to_contain_text("todoplan add")
        page.context.close()
    finally:
        alone.stop()


def filled(plan):
    """Something of everything that a page can show."""
    wait = Waiting("the gardener", question="Which bed?")
    plan.apply(commands.UpdateTask("3", waiting=wait), actor="agent")
    plan.apply(commands.ClaimTask("worker-7"), actor="worker-7")
    plan.apply(commands.CreateTask("Rake", parent="2", priority="high", owner="bea"), actor="bea")
    plan.apply(commands.UpdateTask("4", status="failed"), actor="bea")
    plan.apply(commands.RecordEvidence("4", passed=False, summary="no rake"), actor="bea")
    more = {"due": date(2020, 2, 3), "metadata": {"tags": ["soil"]}}
    plan.apply(commands.CreateTask("Mow", check="short", **more), actor="bea")
    plan.apply(commands.CreateTask("Trim", check="straight", **more), actor="bea")
    plan.apply(commands.UpdateTask("5", status="completed"), actor="bea")


@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_no_fault(pages, plan, width):
    """Names, roles, contrast, reach by keyboard: in every view and the editor; and on a phone."""
    filled(plan)
    page = pages(viewport={"width": width, "height": 740})
    for tab in ("Board", "Tree", "Graph", "Timeline"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("heading", name="Changes since approval")).to_be_visible()
        assert faults(page) == []
        # Lists are moved sideways in their own box, and not the page.
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width, tab
    page.get_by_role("tab", name="Board").click()
    if width < 800:
        page.get_by_role("button", name="Add, find").click()
        assert faults(page) == []
        page.get_by_role("button", name="Add, find").click()
    for text in ("Dig", "Rake"):
        card(page, text).click()
        assert faults(page) == []
        page.keyboard.press("Escape")


def test_colours_are_told_apart_in_the_dark_too(pages, plan):
    """The page follows what the reader's system says, and every text has contrast enough."""
    filled(plan)
    page = pages(color_scheme="dark")
    for tab in ("Board", "Tree", "Timeline"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("heading", name="Changes since approval")).to_be_visible()
        assert faults(page, ["color-contrast"]) == []
    assert (
        page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(19, 23, 29)"
    )
    card(page, "Dig").or_(page.locator(".entry").first).first.click()
    assert faults(page, ["color-contrast"]) == []


def test_axe_would_find_a_fault(pages, plan):
    """A field without its label: the checks above can fail."""
    page = pages(plan=None)
    expect(page.locator(".plans .entry").first).to_be_visible()
    assert faults(page) == []
    page.evaluate("() => document.querySelector('label').remove()")
    page.evaluate("() => document.getElementById('name').removeAttribute('placeholder')")
    assert [name for name, _ in faults(page)] == ["label"]


def test_the_list_of_plans_is_live_and_leads_to_each(pages, plan, served):
    """A plan that somebody begins shows; its name leads to it, and back leads back."""
    page = pages(plan=None)
    expect(
        page.get_by_role("link", name="axe").or_(page.locator(".plans .entry")).first
    ).to_be_visible()
    Planner(served.store, "a new one").apply(commands.CreateTask("Begin"), actor="agent")
    page.get_by_role("link", name="a new one").click()
    expect(card(page, "Begin")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="a new one")).to_be_visible()


def test_a_board_for_reading_offers_nothing_else_and_asks_for_its_token(pages, plan, served):
    """Without the token there is nothing to see; with it, but read-only, nothing to press."""
    from todoplan.web import Access  # noqa: PLC0415 - beside its use

    closed = Served(served.store, access=Access(token="open-sesame"), write=False)  # noqa: S106
    try:
        page = pages(url=closed.url)
        page.get_by_label("Token").fill("open-sesame")
        page.get_by_role("button", name="Open").click()
        card(page, "Dig").click()
        expect(page.get_by_label("Title", exact=True)).to_be_disabled()
        expect(page.get_by_role("button", name="Start")).to_have_count(0)
        page.context.close()
    finally:
        closed.stop()


def test_the_page_knows_what_is_ready(pages, plan):
    """It works it out by itself, and comes to what the core says."""
    inner = [commands.CreateTask(f"Part {n}", parent="1") for n in range(3)]
    plan.apply(commands.CreateTasks(inner), actor="agent")
    plan.apply(commands.UpdateTask("4", waiting=Waiting("rain")), actor="agent")
    plan.apply(commands.UpdateTask("5", status="cancelled"), actor="agent")
    plan.apply(commands.CreateTask("After part", blocked_by=("5",)), actor="agent")
    page = pages()
    expect(page.locator(".card:has(.note.ready)")).to_have_count(len(ready(plan.plan)))
    shown = page.locator(".row:has(.note.ready)").evaluate_all("all => all.map(r => r.dataset.id)")
    assert sorted(shown) == sorted(task.id for task in ready(plan.plan))
