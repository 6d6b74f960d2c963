"""Commands that change a plan: what they do, what they print, what they refuse."""

import inspect
from datetime import UTC, date, datetime, timedelta
from getpass import getuser

import attrs
import pytest
from support.json_documents import data_of
from typer import BadParameter

from todoplan import Planner, Status
from todoplan.cli import plans as plan_options
from todoplan.cli.options import command_of, option_of_field
from todoplan.cli.plans import Fields
from todoplan.core.commands import ClaimTask, CreateTask, RenewClaim, UpdateTask
from todoplan.core.events.types import StatusChanged
from todoplan.core.plan.model import EDITABLE, TASK_FIELDS, FieldKind, TaskField, Waiting
from todoplan.errors import StoreError
from todoplan.render.terminal import today
from todoplan.stores.file import FileStore


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A file of plans that is not there yet, named by the environment."""
    file = tmp_path / "plans.json"
    monkeypatch.setenv("TODOPLAN_STORE", str(file))
    monkeypatch.setenv("TODOPLAN_ACTOR", "ann")
    return file


@pytest.fixture
def garden(path, invoke):
    """The same with a plan of two tasks, of which one waits for the other."""
    assert invoke("add", "Sow").exit_code == 0
    assert invoke("add", "Reap", "--after", "#1").exit_code == 0
    return path


@pytest.mark.parametrize(
    ("command", "made"), [("cli.plans.add", CreateTask), ("cli.plans.change", UpdateTask)]
)
def test_every_field_has_its_option_or_is_left_out_on_purpose(command, made):
    """`wait` has what a task waits for; metadata is the program's to give."""
    settable = EDITABLE & attrs.fields_dict(made).keys()
    offered = inspect.signature(command_of(command)).parameters.keys() & EDITABLE
    assert offered == settable - {"waiting", "metadata"}


def some_field(kind, default=None):
    """A field of this kind that todoplan does not have."""
    return TaskField(
        "place_of_work", kind, default, editable=True, is_progress=False, for_models=True
    )


@pytest.mark.parametrize(
    ("kind", "metavar", "given", "value"),
    [
        (FieldKind.TEXT_OR_NONE, "TEXT", "bed 3", "bed 3"),
        (FieldKind.NUMBER, "NUMBER", "2.5", 2.5),
        (FieldKind.DATE, "DATE", "2026-12-31", date(2026, 12, 31)),
        (FieldKind.PARENT, "ID", "#3", "3"),
    ],
)
def test_a_field_without_an_option_of_its_own_has_one_by_its_kind(kind, metavar, given, value):
    """Its name is the flag and the help; an empty text clears it."""
    option = option_of_field(some_field(kind))
    assert option.default == "--place-of-work"
    assert (option.metavar, option.help) == (metavar, 'Place of work; "" for none.')
    assert (option.parser(given), option.parser("")) == (value, "")


def test_a_text_that_may_not_be_none_has_no_word_about_clearing():
    """An empty text is a text like any other."""
    option = option_of_field(some_field(FieldKind.TEXT, ""))
    assert (option.help, option.parser("a\nb"), option.parser("")) == ("Place of work.", "a\nb", "")


def test_what_is_no_number_is_refused():
    """With an example."""
    with pytest.raises(BadParameter, match="'ten' is no number; write one such"):
        option_of_field(some_field(FieldKind.NUMBER)).parser("ten")


def plan_in(path, plan_id="plan"):
    """The plan as the store has it."""
    return FileStore(path).load(plan_id)


def test_the_first_task_begins_the_plan(path, invoke):
    """Its fields are those of the options; the answer says what changed and what is ready."""
    result = invoke(
        *("add", "Sow", "--description", "In rows", "--active-form", "Sowing"),
        *("--priority", "high", "--owner", "bob", "--estimate", "20", "--check", "all is sown"),
    )
    assert (result.exit_code, result.stdout) == (0, "created #1 Sow\n0/1 completed; ready: #1\n")
    task = plan_in(path)["1"]
    shown = task.description, task.active_form, task.priority, task.owner, task.estimate, task.check
    assert shown == ("In rows", "Sowing", "high", "bob", 20, "all is sown")


def test_a_day_of_work(garden, invoke):
    """Start what is ready, complete it: what waited for it is ready then."""
    assert invoke("start").stdout == "started #1 Sow\n0/2 completed, 1 in progress\n"
    assert invoke("start", "1").stdout.startswith("no change\n")
    assert invoke("done", "1").stdout == "completed #1 Sow\n1/2 completed; ready: #2\n"
    assert invoke("start", "2").exit_code == invoke("done", "#2").exit_code == 0
    assert plan_in(garden).counts.completed == 2


def test_a_task_is_edited(garden, invoke):
    """Only what was given changes."""
    before = plan_in(garden)["2"]
    assert invoke("edit", "2", "--subject", "Harvest", "--estimate", "5").exit_code == 0
    now = plan_in(garden)["2"]
    assert now == before.but(subject="Harvest", estimate=5, updated_at=now.updated_at)


GIVEN = {"priority": "high", "estimate": "2h", "due": "2026-12-31", "parent": "#1"}


@pytest.mark.parametrize("name", attrs.fields_dict(Fields))
def test_every_field_is_set_and_cleared(garden, invoke, name):
    """An empty text clears any field: also a number, a date and a priority."""
    assert invoke("add", "Eat").exit_code == 0
    flag = f"--{name.replace('_', '-')}"
    assert invoke("edit", "3", flag, GIVEN.get(name, "new")).exit_code == 0
    assert getattr(plan_in(garden)["3"], name) != TASK_FIELDS[name].default
    assert invoke("edit", "3", flag, "").exit_code == 0
    assert getattr(plan_in(garden)["3"], name) == TASK_FIELDS[name].default


@pytest.mark.parametrize("status", Status)
def test_any_status_can_be_set(garden, invoke, status):
    """So a task is cancelled, reopened, put back."""
    assert invoke("edit", "1", "--status", status).exit_code == 0
    assert plan_in(garden)["1"].status is status


def test_a_task_is_linked_and_let_go(garden, invoke):
    """An edge is added and removed by what waits."""
    assert invoke("link", "2", "--after", "1", "--remove").exit_code == 0
    assert plan_in(garden)["2"].blocked_by == ()
    assert invoke("link", "1", "--after", "2").exit_code == 0
    assert plan_in(garden)["1"].blocked_by == ("2",)


def test_a_task_is_moved_in_the_order_of_the_plan(garden, invoke):
    """It goes before or after another one; what depends on what stays as it is."""
    assert invoke("add", "Eat").exit_code == 0
    edges = [(task.id, task.blocked_by) for task in plan_in(garden)]
    moved = invoke("move", "#3", "--before", "#1")
    assert (moved.exit_code, moved.stdout) == (0, "reordered\n0/3 completed; ready: #1, #3\n")
    assert [task.subject for task in plan_in(garden)] == ["Eat", "Sow", "Reap"]
    assert invoke("move", "3", "--after", "2").exit_code == 0
    assert [task.subject for task in plan_in(garden)] == ["Sow", "Reap", "Eat"]
    assert [(task.id, task.blocked_by) for task in plan_in(garden)] == edges
    assert invoke("move", "3", "--after", "3").stdout.startswith("no change\n")


def test_a_moved_task_gets_the_parent_of_its_new_neighbour(garden, invoke):
    """So it is moved into and out of a group of subtasks."""
    assert invoke("add", "Water", "--parent", "1").exit_code == 0
    assert invoke("add", "Eat").exit_code == 0
    assert invoke("move", "4", "--before", "3").exit_code == 0
    parents = [(task.id, task.parent) for task in plan_in(garden)]
    assert parents == [("1", None), ("4", "1"), ("3", "1"), ("2", None)]


def test_a_task_is_removed_and_the_removal_taken_back(garden, invoke):
    """Undo takes the last change back that still stands."""
    assert invoke("remove", "2").stdout == "removed #2\n0/1 completed; ready: #1\n"
    assert invoke("undo").exit_code == 0
    assert [task.subject for task in plan_in(garden)] == ["Sow", "Reap"]


def test_undo_says_whose_change_went_and_what_that_changed(garden, invoke):
    """The change as the history tells it, then the tasks that are not as they were."""
    assert invoke("undo", "--actor", "bob").stdout == (
        "undone: created #2 Reap; linked #2 Reap (by ann)\nremoved #2\n0/1 completed; ready: #1\n"
    )
    assert invoke("undo").stdout == "undone: created #1 Sow (by ann)\nremoved #1\nno tasks\n"
    rows = [line.split("  ")[-1].strip() for line in invoke("log").stdout.splitlines()]
    assert rows[-4:] == ["took back 3", "removed #2", "took back 1", "removed #1"]


def test_redo_brings_an_undone_change_back(garden, invoke):
    """It says which; the last undo first, and again."""
    invoke("done", "1")
    assert invoke("undo").exit_code == invoke("undo").exit_code == 0
    assert invoke("redo", "--actor", "bob").stdout == (
        "redone: created #2 Reap; linked #2 Reap (by ann)\n"
        "restored #2 Reap\n0/2 completed; ready: #1\n"
    )
    assert invoke("redo").stdout.startswith("redone: completed #1 Sow (by ann)\n")
    assert plan_in(garden)["1"].status is Status.COMPLETED


def test_a_redo_is_undone_and_redone(garden, invoke):
    """It is a change like any other."""
    for command in ("undo", "redo", "undo", "undo"):
        assert invoke(command).exit_code == 0
    assert len(plan_in(garden)) == 0
    for _ in range(2):
        assert invoke("redo").exit_code == 0
    assert [task.subject for task in plan_in(garden)] == ["Sow", "Reap"]
    assert invoke("redo").exit_code == 1


def test_redo_is_refused_after_another_change(garden, invoke):
    """That change has replaced what was undone."""
    invoke("undo")
    invoke("add", "Dig")
    refused = invoke("redo")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "The last change of the plan is no undo" in refused.stderr
    assert not data_of(invoke("redo", "--json"))["accepted"]


def long_ago(path):
    """A planner of the same plan in the year 2020."""
    clock = iter(datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in range(24))
    return Planner(FileStore(path), "plan", clock=lambda: next(clock))


def test_redo_after_a_heartbeat(garden, invoke):
    """A worker that renews its claim changes nothing of a person's."""
    planner = long_ago(garden)
    planner.apply(ClaimTask("worker", lease=60 * 60 * 24 * 365 * 20)).unwrap()
    planner.apply(CreateTask("Dig")).unwrap()
    planner.undo(fences={"1": 1}).unwrap()
    planner.apply(RenewClaim("1", 1, lease=60 * 60 * 24 * 365 * 21)).unwrap()
    assert invoke("redo").stdout.startswith("redone: created #3 Dig\n")


def test_one_edit_of_several_tasks(garden, invoke):
    """Wherever an id goes, lists and ranges go too; all or none, in one entry of the history."""
    assert invoke("edit", "1-2", "--priority", "high").exit_code == 0
    assert {task.priority for task in plan_in(garden)} == {"high"}
    assert invoke("wait", "1,2", "for rain").exit_code == 0
    assert all(task.waiting for task in plan_in(garden))
    assert invoke("edit", "1-9", "--priority", "low").exit_code == 1
    assert {task.priority for task in plan_in(garden)} == {"high"}
    (*_, last) = FileStore(garden).entries("plan")
    assert (last.cause, last.actor, len(last.events)) == ("Batch", "ann", 2)
    assert invoke("undo").stdout.startswith("undone: waiting #1-#2")


def test_a_change_by_nobody_is_taken_back_too(path, invoke):
    """It has no name to say."""
    assert invoke("add", "Sow").exit_code == invoke("add", "Dig", "--actor", "").exit_code == 0
    assert invoke("undo").stdout.startswith("undone: created #2 Dig\nremoved #2\n")


def test_a_live_claim_is_not_taken_back(garden, invoke):
    """As it is not completed or edited by another; one that was released is history like any."""
    Planner(FileStore(garden), "plan").apply(ClaimTask("worker"), actor="w1").unwrap()
    refused = invoke("undo")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Task 1 is claimed by worker" in refused.stderr
    assert "release it: todoplan release 1" in refused.stderr
    assert invoke("release", "1").exit_code == 0
    assert invoke("undo").stdout.startswith("undone: released from ")


def test_a_claim_that_is_over_is_taken_back_with_its_renewals(garden, invoke):
    """A renewal is a heartbeat, and nobody's change."""
    planner = long_ago(garden)
    planner.apply(ClaimTask("worker", lease=600)).unwrap()
    planner.apply(RenewClaim("1", 1, lease=900)).unwrap()
    assert invoke("undo").stdout.startswith("undone: started #1 Sow; claimed #1 Sow\n")


def test_what_changed_nothing_is_taken_back_too(garden, invoke):
    """Such as a plan that was put back as it is."""
    planner = Planner(FileStore(garden), "plan")
    planner.restore(planner.plan).unwrap()
    assert invoke("undo").stdout.startswith("undone: no change\n")


@pytest.mark.parametrize(("command", "method"), [("undo", "undo"), ("redo", "restore")])
def test_what_comes_between_a_look_and_undo_or_redo_stays(
    garden, invoke, monkeypatch, command, method
):
    """The command is refused: it would take back a change that nobody has seen."""
    invoke("undo")
    original = getattr(Planner, method)

    def late(planner, *given, **options):
        Planner(FileStore(garden), "plan").apply(CreateTask("Rest")).unwrap()
        return original(planner, *given, **options)

    monkeypatch.setattr(Planner, method, late)
    refused = invoke(command)
    assert refused.exit_code == 1
    assert "has moved on" in refused.stderr
    assert [task.subject for task in plan_in(garden)] == ["Sow", "Rest"]


def test_a_question_that_stays_open_is_said(garden, invoke):
    """The task may go on without its answer, but not silently; cancelled needs none."""
    assert invoke("wait", "1", "--question", "Which bed?").exit_code == 0
    assert invoke("answer", "1", "The sunny one").exit_code == 0  # an answer to another question
    for task in "12":
        assert invoke("wait", task, "--question", "North or south?").exit_code == 0
    done = invoke("done", "1")
    assert done.exit_code == 0
    assert 'warning: #1 asked "North or south?", and was not answered.' in done.stderr
    assert invoke("edit", "2", "--status", "cancelled").stderr == ""
    assert invoke("undo").exit_code == invoke("undo").exit_code == 0
    warnings = data_of(invoke("start", "1", "--json"))["warnings"]
    assert [each["code"] for each in warnings] == ["not_answered"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("done", "9"), "refused: There is no task 9;"),
        (("add", ""), "refused: The text is empty;"),
        (("add", "Dig", "--after", "9"), "refused: --after: There is no task 9;"),
        (("link", "1", "--after", "1"), "refused: --after: Task 1 cannot wait for itself;"),
        (("edit", "1", "--parent", "9"), "refused: --parent: There is no task 9;"),
        (("move", "1", "--before", "9"), "refused: --before: There is no task 9;"),
        (("move", "1", "--after", "9"), "refused: --after: There is no task 9;"),
    ],
)
def test_a_refusal_names_what_was_typed(garden, invoke, arguments, said):
    """An option by its own name; ids and a task's text have none."""
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_task_waits_and_is_answered(garden, invoke):
    """It waits for what is said, is not ready meanwhile, and keeps the answer."""
    asked = invoke("wait", "1", "for bob", "--question", "North or south?")
    assert (asked.exit_code, asked.stdout) == (0, "waiting #1 Sow\n0/2 completed, 1 waiting\n")
    assert plan_in(garden)["1"].waiting == Waiting("for bob", None, "North or south?")
    assert invoke("answer", "#1", "South").exit_code == 0
    task = plan_in(garden)["1"]
    assert (task.waiting, task.answer) == (None, "South")
    assert invoke("answer", "1", "North").exit_code == 1
    assert invoke("wait", "1", "bob").exit_code == invoke("answer", "1", "He agrees").exit_code == 0
    assert plan_in(garden)["1"].answer == "He agrees"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2199-01-02T03:04+02:00", datetime(2199, 1, 2, 1, 4, tzinfo=UTC)),
        ("2199-01-02T03:04", datetime(2199, 1, 2, 3, 4).astimezone()),
        ("2199-01-02", datetime(2199, 1, 2).astimezone()),
    ],
)
def test_a_task_waits_for_a_time(garden, invoke, given, meant):
    """Local unless it names its zone; `--over` ends the wait."""
    assert invoke("start", "1").exit_code == invoke("wait", "1", "--until", given).exit_code == 0
    task = plan_in(garden)["1"]
    assert (task.status, task.waiting) == ("pending", Waiting(until=meant))
    assert invoke("wait", "1", "--over").exit_code == 0
    assert plan_in(garden)["1"].waiting is None


def test_a_failed_task_holds_back_what_comes_after(garden, invoke):
    """It is closed without its result; several fail as one."""
    assert invoke("fail", "1").stdout == "failed #1 Sow\n0/2 completed, 1 failed\n"
    assert invoke("fail", "1", "9").exit_code == 1
    assert "refused: Only a pending task can wait" in invoke("wait", "1", "bob").stderr
    assert plan_in(garden).counts.failed == 1


def test_a_task_has_a_parent(garden, invoke):
    """From its beginning; none is a subtask of its own subtask."""
    assert invoke("add", "Dig", "--parent", "#1").exit_code == 0
    assert [(task.id, task.parent) for task in plan_in(garden)][1] == ("3", "1")
    assert invoke("edit", "1", "--parent", "#3").exit_code == 1


def test_what_the_rules_refuse_is_exit_1(garden, invoke):
    """The reason stands on stderr, and nothing changed."""
    before = garden.read_bytes()
    result = invoke("link", "1", "--after", "2")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("todoplan: refused: ")
    assert "1 -> 2 -> 1" in result.stderr
    assert garden.read_bytes() == before


def test_rules_come_from_preset_and_options(garden, invoke):
    """A rule upon a preset is kept for this command."""
    assert invoke("start", "1").exit_code == 0
    strict = invoke("start", "2", "--rule", "single_in_progress=error", "--rule", "max_items=5")
    assert strict.exit_code == 1
    assert invoke("add", "Rest", "--policy", "claude").exit_code == 1
    lax = invoke("start", "2")
    assert lax.exit_code == 0
    assert lax.stderr.startswith("todoplan: warning: ")


def test_programs_get_a_document(garden, invoke):
    """Events, counts and what is ready; of a refusal its problems, and the plan as it was."""
    done = data_of(invoke("done", "1", "--json"))
    assert (done["accepted"], done["plan"], done["ready"]) == (True, "plan", ["2"])
    assert [event["new"] for event in done["events"]] == ["completed"]
    refused = invoke("remove", "7", "--json")
    assert refused.exit_code == 1
    data = data_of(refused)
    assert (data["accepted"], data["events"], data["revision"]) == (False, [], done["revision"])
    assert [problem["code"] for problem in data["problems"]] == ["unknown_task"]
    assert data_of(invoke("undo", "--json"))["accepted"]


def test_nothing_to_take_back_is_a_refusal(path, invoke):
    """As any other."""
    assert invoke("add", "Sow").exit_code == invoke("undo").exit_code == 0
    result = invoke("undo")
    assert result.exit_code == 1
    assert "nothing to do" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("done", "1", "--store", ""), ".todoplan/plans.db has no plan yet"),
        (("done", "1", "--store", "redis://x"), "'redis://x' is no "),
        (("done", "1"), "plans.json has no plan yet; `todoplan add` creates one"),
        (("add", "Sow", "--policy", "lax"), "'lax' is none of default"),
        (("add", "Sow", "--policy", "lax.toml"), "cannot read lax.toml: No such file"),
        (("add", "Sow", "--rule", "max_items"), "'max_items' has no value"),
        (("add", "Sow", "--store", "missing/plans.json"), "missing first"),
        (("add", "Sow", "--store", "missing/plans.db"), "missing first"),
        (("add", "Sow", "--priority", "urgent"), "'urgent' is none of high"),
        (("edit", "1"), "say what to change"),
        (("wait", "1", "bob", "--over"), "--over ends the wait: leave the reason"),
        (("wait", "1", "--until", "noon"), "'noon' is no time such as 2026-12-24"),
        (("wait", "1", "--until", "0001-01-01"), "'0001-01-01' is no time"),
        (("wait", "1", "--until", "999999w"), "'999999w' is no time"),
        (("wait", "1", "--until", "2020-01-01"), "'2020-01-01' is past: give a later time"),
        (("answer", "1"), "Missing argument"),
        (("answer", "#1", " "), "end the wait: todoplan wait 1 --over"),
        (("link", "1"), "Missing option '--after'"),
        (("move", "1"), "say where to put the task: --before ID or --after ID, one of them"),
        (("move", "1", "--before", "2", "--after", "3"), "--before ID or --after ID, one of"),
        (("done",), "Missing argument"),
        *((("done", ids), "such as 2-4") for ids in ("3-1", "1-5000")),
        *(
            (("add", "Dig", "--due", day), "2026-12-24, today, tomorrow")
            for day in ("soon", "2026-02-30", "3h", "20261224x")
        ),
        *(
            (("add", "Dig", "--estimate", time), "90m, 2h, 1.5d")
            for time in ("soon", "1h30", "h", "1h,30m")
        ),
    ],
)
def test_what_cannot_be_done_is_exit_2(path, invoke, monkeypatch, arguments, reason):
    """A line says why, and no file is made."""
    monkeypatch.chdir(path.parent)
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in " ".join(result.stderr.split())
    assert not path.exists()


def test_of_several_plans_one_has_to_be_named(path, invoke):
    """The only one needs no name; a new name begins another plan, by `add` alone."""
    Planner(FileStore(path), "garden").apply(CreateTask("Sow"))
    assert invoke("add", "Reap").exit_code == 0
    assert len(plan_in(path, "garden")) == 2
    assert invoke("done", "1", "--plan", "house").exit_code == 2
    assert invoke("add", "Sweep", "--plan", "house").exit_code == 0
    unnamed = invoke("add", "Rest")
    assert unnamed.exit_code == 2
    assert "2 plans; choose by --plan: 'garden', 'house'" in unnamed.stderr


def test_the_history_names_who_it_was(path, invoke, monkeypatch):
    """The option, else the environment, else the login; an empty name is nobody's."""
    assert invoke("add", "a", "--actor", "bob").exit_code == invoke("add", "b").exit_code == 0
    assert invoke("add", "c", "--actor", "").exit_code == 0
    monkeypatch.delenv("TODOPLAN_ACTOR")
    assert invoke("add", "d").exit_code == 0

    def nobody():
        raise KeyError

    monkeypatch.setattr(plan_options, "getuser", nobody)
    assert invoke("add", "e").exit_code == 0
    actors = [entry.actor for entry in FileStore(path).entries("plan")]
    assert actors == ["bob", "ann", None, getuser(), None]


def test_hostile_text_is_shown_as_plain_words(path, invoke):
    """No control sequence reaches the terminal."""
    result = invoke("add", "Sow \x1b[31m\nand [bold]reap")
    assert result.stdout.splitlines()[0] == "created #1 Sow and [bold]reap"


@pytest.fixture
def held(garden):
    """A claim of a worker whose process is gone: its task, its planner, for an hour."""
    planner = Planner(FileStore(garden), "plan")
    return planner.claim(ClaimTask("w1", lease=3600))


def test_a_person_frees_the_task_of_a_worker_that_died(held, path, invoke):
    """The refusal says how; what the worker reports afterwards is refused."""
    refused = invoke("done", "1")
    assert refused.exit_code == 1
    assert "refused: Task 1 is claimed by w1" in refused.stderr
    assert "release it: todoplan release 1\n" in refused.stderr
    freed = invoke("release", "#1")
    assert freed.exit_code == 0
    assert freed.stdout == 'released from "w1" #1 Sow\n0/2 completed; ready: #1\n'
    last = FileStore(path).entries("plan")[-1]
    assert (last.actor, last.cause) == ("ann", "ReleaseClaim")
    assert isinstance(last.events[0], StatusChanged)
    assert last.events[0].lost_by == "w1"
    with pytest.raises(StoreError, match="lost its claim"):
        held.complete()
    assert plan_in(path)["1"].status is Status.PENDING
    assert invoke("done", "1").exit_code == 0


def test_only_what_is_claimed_can_be_released(held, path, invoke):
    """Of several tasks all or none; what there is not at all is told as everywhere."""
    again = Planner(FileStore(path), "plan")
    again.apply(CreateTask("Eat"))
    claimed = again.claim("w2")
    assert claimed
    nobody = invoke("release", "1", "2", "--json")
    assert nobody.exit_code == 1
    problems = data_of(nobody)["problems"]
    assert [(each["code"], each["task_ids"]) for each in problems] == [("not_claimed", ["2"])]
    assert "no task 9" in invoke("release", "1", "9").stderr.lower()
    assert {task.id for task in plan_in(path) if task.claim} == {"1", "3"}
    assert data_of(invoke("release", "1", "3", "--json"))["accepted"]
    assert (held.renew(), claimed.renew()) == (False, False)


def test_until_when_a_task_is_held_is_told_to_the_second(held, invoke):
    """A claim may last for less than a minute."""
    until = held.task.claim.until.isoformat(" ", "seconds")
    assert f'held by "w1" until {until}' in invoke("list").stdout


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (["1", "2"], "12"),
        (["1,2"], "12"),
        (["#1, #3"], "13"),
        (["1-3"], "123"),
        (["2-3,1", "2"], "231"),
        (["#2-#4"], "234"),
    ],
)
def test_ids_may_be_listed_and_ranged(path, invoke, given, ids):
    """Wherever ids go; each counts once."""
    for subject in "abcd":
        invoke("add", subject)
    assert invoke("done", *given).exit_code == 0
    done = [task.id for task in plan_in(path) if task.status.closed]
    assert sorted(done) == sorted(ids)
    assert invoke("rm", *given).exit_code == 0
    assert len(plan_in(path)) == 4 - len(ids)


@pytest.mark.parametrize(
    ("given", "minutes"),
    [
        *(("90", 90), ("90m", 90), ("45 min", 45), ("2h", 120), ("1.5d", 720), ("1w", 2400)),
        *(("2w", 4800), ("1h30m", 90), ("1d 2h", 600)),
    ],
)
def test_an_estimate_is_a_length_of_work(garden, invoke, given, minutes):
    """A day has eight hours of it, and a week five days; several parts are added up."""
    assert invoke("edit", "1", "--estimate", given).exit_code == 0
    assert plan_in(garden)["1"].estimate == minutes
    assert f"estimate: {minutes}\n" in invoke("show", "1").stdout


@pytest.mark.parametrize(
    ("given", "days"),
    [("today", 0), ("Tomorrow", 1), ("3d", 3), ("2w", 14), ("2026-12-24", None)],
)
def test_a_due_date_is_a_day(garden, invoke, given, days):
    """Tasks that are open after it are overdue."""
    assert invoke("edit", "1", "--due", given).exit_code == 0
    due = plan_in(garden)["1"].due
    assert due
    assert due == (date(2026, 12, 24) if days is None else today() + timedelta(days=days))
    assert f"due {due}" in invoke("list").stdout or due < today()
    assert invoke("edit", "1", "--due", "2020-02-29").exit_code == 0
    assert "overdue since 2020-02-29" in invoke("list").stdout
    assert invoke("done", "1").exit_code == 0
    assert "2020-02-29" not in invoke("list").stdout


@pytest.mark.parametrize(("given", "hours"), [("2h", 2), ("1.5d", 36), ("1w", 168)])
def test_a_wait_may_end_after_a_time(garden, invoke, given, hours):
    """From now, in days of the calendar."""
    before = datetime.now(UTC)
    assert invoke("wait", "1", "rain", "--until", given).exit_code == 0
    waiting = plan_in(garden)["1"].waiting
    assert waiting
    assert waiting.until
    assert hours * 3600 <= (waiting.until - before).total_seconds() <= hours * 3600 + 600


def test_start_says_why_it_starts_nothing(garden, invoke):
    """A task is in progress already, or none is ready."""
    assert "started #1 Sow" in invoke("start").stdout
    again = invoke("start")
    assert (again.exit_code, again.stdout.partition("\n")[0]) == (
        0,
        "in progress already: #1 Sow; todoplan start ID starts another task too",
    )
    invoke("wait", "1", "rain")
    assert invoke("start").stdout.startswith(
        "no task is ready; todoplan ready --explain says why\n"
    )
    assert invoke("start", "--policy", "strict").exit_code == 0


def test_the_plan_is_named_by_the_environment_too(garden, invoke, monkeypatch):
    """For work on one of several plans; the option goes first."""
    monkeypatch.setenv("TODOPLAN_PLAN", "house")
    assert invoke("add", "Paint").exit_code == 0
    assert "Paint" in invoke("list").stdout
    assert "Sow" in invoke("list", "--plan", "plan").stdout
    assert "Paint" in invoke("show").stdout
    monkeypatch.setenv("TODOPLAN_PLAN", "")
    assert "2 plans; choose by --plan" in invoke("list").stderr
    assert "2 plans; choose by --plan" in invoke("add", "Paint", "--plan", "").stderr


@pytest.mark.parametrize("name", ["monday", "Friday", "sunday"])
def test_a_weekday_is_the_next_one(garden, invoke, name):
    """Never today; a wait ends when the day begins, in local time."""
    assert invoke("edit", "1", "--due", name).exit_code == 0
    due = plan_in(garden)["1"].due
    assert due.strftime("%A").lower() == name.lower()
    assert timedelta(days=1) <= due - today() <= timedelta(days=7)
    assert invoke("wait", "1", "rain", "--until", name).exit_code == 0
    until = plan_in(garden)["1"].waiting.until.astimezone()
    assert (until.date(), until.hour, until.minute) == (due, 0, 0)
    assert invoke("wait", "1", "rain", "--until", "tomorrow").exit_code == 0
    assert invoke("wait", "1", "rain", "--until", "today").exit_code == 2


def test_a_task_is_removed_with_its_subtasks_in_any_order_of_ids(garden, invoke):
    """If all of them are named."""
    for subject in ("Tools", "Nails"):
        assert invoke("add", subject, "--parent", "1").exit_code == 0
    assert "refused: The first of #1, #3-#4" in invoke("rm", "1").stderr
    assert "removed #1, #3-#4" in invoke("rm", "1", "3-4").stdout


def test_a_mistyped_plan_is_noticed(garden, invoke):
    """Only `add` begins one; the first plan of a store needs no word."""
    assert "a new plan begins: shoping" in invoke("add", "Milk", "--plan", "shoping").stderr
    assert invoke("add", "Eggs", "--plan", "shoping").stderr == ""
