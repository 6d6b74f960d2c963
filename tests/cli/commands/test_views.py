"""A plan as it stands, how it came to be, what changed."""

import json
import re

import pytest
from rich.cells import cell_len
from support.json_documents import data_of

from todoplan import Planner
from todoplan.cli.plans import Place
from todoplan.cli.views import log
from todoplan.codec import load_plan
from todoplan.core.commands import (
    Batch,
    ClaimTask,
    CreateTask,
    DeleteTask,
    RecordEvidence,
    UpdateTask,
)
from todoplan.core.plan.model import Waiting
from todoplan.render.outline import to_text
from todoplan.stores.file import FileStore
from todoplan.stores.sqlite import SqliteStore


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A file with a plan that three hands changed in six entries."""
    path = tmp_path / "plans.json"
    planner = Planner(FileStore(path), "garden")
    planner.apply(CreateTask("Sow", metadata={"bed": 1}), actor="ann")
    planner.apply(CreateTask("Reap", blocked_by=("1",)), actor="bob")
    planner.apply(CreateTask("Rest"))
    planner.apply(UpdateTask("1", status="completed", metadata={"bed": 2}), actor="ann")
    planner.apply(DeleteTask("3"), actor="bob")
    planner.undo(actor="cid")
    monkeypatch.setenv("TODOPLAN_STORE", str(path))
    return path


def test_a_list_is_the_plan_as_people_read_it(stored, invoke):
    """The same as `show`; `--ready` leaves out what cannot be started."""
    plan = FileStore(stored).load("garden")
    result = invoke("list")
    assert result.exit_code == 0
    assert result.stdout == "".join(f"  {line}\n" for line in to_text(plan).split("\n"))
    ready = invoke("list", "--ready").stdout.splitlines()
    assert ready == ["  1/3 completed", "  [ ] 2 Reap", "  [ ] 3 Rest"]


def test_a_list_for_programs_holds_the_document(stored, invoke):
    """It is read back to the same plan."""
    data = data_of(invoke("list", "--json"))
    assert load_plan(json.dumps(data["document"])) == FileStore(stored).load("garden")
    assert (data["plan"], data["ready"]) == ("garden", ["2", "3"])


def test_a_log_says_who_did_what(stored, invoke):
    """A row an entry, oldest first; what was taken back is named."""
    rows = [line.split(maxsplit=3) for line in invoke("log").stdout.splitlines()]
    assert [row[0] for row in rows[:2]] == ["1", "3"]
    assert rows[0][3].split(maxsplit=2) == ["ann", "CreateTask", "created #1 Sow"]
    text = invoke("log").stdout
    assert "took back 7" in text
    assert "restored" in text


def test_a_log_says_which_fields_were_set_from_what_to_what(stored, invoke):
    """A line each, cleaned and cut; what the phrase says of status and claims is not said again."""
    planner = Planner(FileStore(stored), "garden")
    words = {"subject": "Mow\x1b[31m", "description": "all " * 60, "check": "it is short"}
    planner.apply(UpdateTask("2", priority="high", owner="bo", **words))
    planner.apply(UpdateTask("2", owner=None, add_blocked_by=["3"], waiting=Waiting("for rain")))
    planner.apply(RecordEvidence("2", passed=False, summary="2 cm", by="ci"))
    planner.apply(UpdateTask("2", waiting=Waiting("bo", question="Today?")))
    planner.apply(UpdateTask("2", waiting=None))
    planner.apply(ClaimTask("cid", task_id="3"))
    told = [line.strip() for line in invoke("log", "--last", "6").stdout.splitlines()]
    assert [line for line in told if line.startswith("#")] == [
        "#2 subject Reap -> Mow",
        f"#2 description nothing -> {('all ' * 60)[:59]}…",
        "#2 priority nothing -> high",
        "#2 owner nothing -> bo",
        "#2 check nothing -> it is short",
        "#2 owner bo -> nothing",
        "#2 blocked by #1 -> #1, #3",
        "#2 waiting nothing -> for rain",
        "#2 evidence nothing -> failed 2 cm",
        "#2 waiting for rain -> bo: Today?",
        "#2 waiting bo: Today? -> nothing",
    ]
    assert "claim nothing -> cid" in invoke("diff").stdout


def test_a_log_names_so_many_fields_of_an_entry(stored, invoke):
    """How many more there were is said."""
    planner = Planner(FileStore(stored), "garden")
    planner.apply(Batch([UpdateTask("2", estimate=5, metadata={str(n): n}) for n in range(3)]))
    planner.apply(Batch([CreateTask(str(n)) for n in range(20)]))
    planner.apply(Batch([UpdateTask(str(n), owner="bo") for n in range(4, 24)]))
    *_, line, more = invoke("log").stdout.splitlines()
    assert line.strip() == "#15 owner nothing -> bo"
    assert more.strip() == "and 8 more"


def test_a_log_can_be_cut(stored, invoke):
    """The last entries, and how many there were before; 0 is all."""
    first, *rest = invoke("log", "--last", "1").stdout.splitlines()
    assert first == "  5 earlier; --last 0 shows all"
    assert "cid" in rest[0]
    assert len(data_of(invoke("log", "--last", "0", "--json"))["entries"]) == 6
    assert len(data_of(invoke("log", "--last", "2", "--json"))["entries"]) == 2


def test_a_log_fits_the_terminal(stored, terminal, text):
    """What is too long is cut."""
    Planner(FileStore(stored), "garden").apply(CreateTask("Sow " * 100))
    log(Place(str(stored)), terminal, last=0, as_json=False)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text(terminal))
    assert all(cell_len(line) <= 70 for line in plain.split("\n"))
    assert "created #4 Sow" in plain


def test_a_difference_names_tasks_and_fields(stored, invoke):
    """New, changed and gone ones, between any two revisions; times are left out."""
    assert invoke("diff", "0", "3").stdout == "revision 0 to 3\n  + #1 Sow\n  + #2 Reap\n"
    lines = invoke("diff", "4", "7").stdout.splitlines()
    assert lines[0] == "revision 4 to 7"
    assert "~ #1 Sow: status pending -> completed" in lines[1]
    assert 'metadata {"bed": 1} -> {"bed": 2}' in lines[1]
    assert lines[2] == "  - #3 Rest"
    assert invoke("diff", "4", "4").stdout == "revision 4 to 4\n  no difference\n"
    assert "blocks nothing -> #2" in invoke("diff", "1", "3").stdout


def test_without_revisions_the_last_change_is_shown(stored, invoke):
    """One revision alone is compared to the plan as it is."""
    assert invoke("diff").stdout == "revision 7 to 8\n  + #3 Rest\n"
    assert invoke("diff", "6").stdout == "revision 6 to 8\n  no difference\n"


def test_a_journal_that_was_compacted_is_followed_from_its_first_plan(tmp_path, invoke):
    """Earlier revisions are gone; the plan is still the one that the journal leads to."""
    store = SqliteStore(tmp_path / "plans.db")
    planner = Planner(store, "garden")
    for subject in ("Sow", "Reap", "Rest"):
        planner.apply(CreateTask(subject))
    store.compact("garden", keep=1)
    given = ("--store", tmp_path / "plans.db")
    assert invoke("check", *given).stdout.endswith("revision 3: 0/3 completed\n  keeps them\n")
    assert invoke("diff", *given).stdout == "revision 2 to 3\n  + #3 Rest\n"
    assert "the journal has 2 to 3" in invoke("diff", "1", *given).stderr
    store.compact("garden", keep=0)
    assert invoke("diff", *given).stdout == "revision 3 to 3\n  no difference\n"


def test_a_difference_for_programs_holds_both_tasks(stored, invoke):
    """As they were and as they are; `null` for what was not or is not there."""
    data = data_of(invoke("diff", "4", "7", "--json"))
    assert (data["since"], data["until"]) == (4, 7)
    changed, gone = data["tasks"]
    assert (changed["was"]["status"], changed["now"]["status"]) == ("pending", "completed")
    assert (gone["was"]["subject"], gone["now"]) == ("Rest", None)


@pytest.mark.parametrize("revisions", [("9",), ("3", "2"), ("0", "99")])
def test_revisions_that_are_not_there_are_exit_2(stored, invoke, revisions):
    """The line says which there are."""
    result = invoke("diff", *revisions)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the journal has 0 to 8" in result.stderr


@pytest.mark.parametrize("command", ["list", "log", "diff"])
def test_what_cannot_be_read_is_exit_2(stored, invoke, command):
    """A plan that is not there, a damaged file, no store at all."""
    missing = invoke(command, "--plan", "house")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "no plan 'house'; choose by --plan: 'garden'" in missing.stderr
    stored.write_text("{")
    damaged = invoke(command)
    assert damaged.exit_code == 2
    assert "holds no plans that can be trusted" in damaged.stderr
    assert invoke(command, "--store", "").exit_code == 2


def test_a_drift_says_what_came_went_and_changed_since_the_approval(stored, invoke):
    """And by whom, for people and for programs; without an approval there is none."""
    early = invoke("drift")
    assert (early.exit_code, early.stdout) == (2, "")
    assert "`todoplan approve` approves its current state" in early.stderr
    agreed = invoke("approve", "--actor", "ann")
    assert (agreed.exit_code, agreed.stdout) == (
        0,
        'approved\n1/3 completed, approved by "ann" at revision 9; ready: #2-#3\n',
    )
    assert invoke("drift").stdout == 'no drift since revision 9, approved by "ann"\n'
    planner = Planner(FileStore(stored), "garden")
    planner.apply(CreateTask("Dig"), actor="bob")
    planner.apply(UpdateTask("2", subject="Harvest", status="in_progress"))
    assert invoke("drift").stdout.splitlines() == [
        'since revision 9, approved by "ann": 1 added, 0 removed, 1 changed',
        '+ 4 Dig ("bob")',
        '~ 2 Harvest: subject (was "Reap")',
    ]
    data = data_of(invoke("drift", "--json"))
    assert (data["approved"]["by"], data["approved"]["revision"]) == ("ann", 9)
    told = [(each["fields"], each["actor"]) for each in data["tasks"]]
    assert told == [([], "bob"), (["subject"], None)]
    assert [each["was"] and each["was"]["subject"] for each in data["tasks"]] == [None, "Reap"]


def test_an_approval_by_nobody_names_nobody(stored, invoke):
    """As an empty actor is nobody's name."""
    assert invoke("approve", "--actor", "", "--json").exit_code == 0
    assert invoke("drift").stdout == "no drift since revision 9, approved\n"


def test_the_next_task_is_one_line(tmp_path, monkeypatch, invoke):
    """What is in progress, else what is ready, else that nothing is."""
    monkeypatch.setenv("TODOPLAN_STORE", str(tmp_path / "plans.json"))
    invoke("add", "Sow\nbeans")
    invoke("add", "Reap", "--after", "1")
    assert invoke("next").stdout == "#1 Sow beans, 0/2 completed\n"
    invoke("start")
    assert invoke("next").stdout == "#1 Sow beans (in progress), 0/2 completed, 1 in progress\n"
    invoke("wait", "1", "rain")
    assert invoke("next").stdout == "nothing is ready, 0/2 completed, 1 waiting\n"
    invoke("done", "1-2")
    assert invoke("next").stdout == "nothing is open, 2/2 completed\n"


def test_ready_says_why_the_others_are_not(tmp_path, monkeypatch, invoke):
    """Progress, a wait, what comes before it, its subtasks, and what holds up the task above it."""
    store = SqliteStore(tmp_path / "plans.db")
    monkeypatch.setenv("TODOPLAN_STORE", str(tmp_path / "plans.db"))
    planner = Planner(store, "plan")
    for subject, given in (
        ("Dig", {}),
        ("Lay", {"blocked_by": ("1",)}),
        ("Garden", {}),
        ("Sow", {"parent": "3"}),
        ("House", {"blocked_by": ("1",)}),
        ("Roof", {"parent": "5"}),
        ("Shop", {}),
        ("Queue", {}),
        ("Pay", {"parent": "8"}),
    ):
        planner.apply(CreateTask(subject, **given))
    planner.apply(ClaimTask("bot", 900.0, "1"))
    planner.apply(UpdateTask("7", waiting=Waiting("for bob")))
    planner.apply(UpdateTask("8", waiting=Waiting("", question="When?")))
    assert invoke("ready").stdout == "#4 Sow\n"
    assert invoke("ready", "--explain").stdout.splitlines() == [
        "#4 Sow",
        "not #1 Dig: it is in progress by bot",
        "not #2 Lay: it comes after #1",
        "not #3 Garden: its subtasks are the work: #4",
        "not #5 House: it comes after #1; its subtasks are the work: #6",
        "not #6 Roof: #5 above it comes after #1",
        "not #7 Shop: it waits: for bob",
        "not #8 Queue: it waits: When?; its subtasks are the work: #9",
        "not #9 Pay: #8 above it waits",
    ]
    planner.apply(UpdateTask("4", status="completed"))
    assert invoke("ready").stdout == "nothing is ready\n"
