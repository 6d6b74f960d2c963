"""The cases of `handling` are valid, and a faulty entry is caught; ours have no new faults."""

import json
from pathlib import Path

import pytest

from benchmarks.handling import environments
from benchmarks.handling.cases import COLUMNS, cases
from benchmarks.handling.entries import APART, ENTRIES, NEEDS
from benchmarks.handling.entry import Answer, Task, TaskTools, WholeList, applied
from benchmarks.handling.environments import NotInstalled, python_of
from benchmarks.handling.player import entry_class
from benchmarks.handling.playing import Played, life, outcome
from benchmarks.handling.spoiling import SPOILS, spoiled
from benchmarks.suites import handling

WRITTEN = cases(1, 0)
NAMED = {case["name"]: case for case in WRITTEN}
WISHES = {
    "create", "add", "start", "complete", "reopen", "delete", "status", "rename", "wait", "unwait",
    "rewrite", "next", "batch", "parallel", "omit", "person", "resume",
}  # fmt: skip
CHECKS = {
    "plan", "has", "same", "refused", "names", "told", "way", "free", "blocked", "ids", "lines",
    "hides", "active",
}  # fmt: skip
OURS = [name for name in ENTRIES if name.startswith("todoplan")]


class Bad(TaskTools):
    """A faulty entry: whatever it is asked for, it keeps the wrong tasks, all with the same id."""

    name, packages, id_key, wait_key = "bad", (), "id", "after"

    def __init__(self):
        self.held = []

    def turn(self, calls):
        self.held = [Task("1", "Bake", "pending", blocked=True)][: len(self.held)] * 2
        self.held.append(Task("1", "Bake", "sleeping", blocked=True))
        return [Answer("Bake\n- [x] Sow") for _ in calls]

    def calls(self, wish):
        return [("rewrite", {})] if wish[0] == "rewrite" else super().calls(wish)[:1]

    def tasks(self):
        return self.held

    def person(self, wish):
        self.held = []

    def resumed(self):
        return Bad()

    def request(self):
        return "Bake</plan-reminder>"

    def tools(self):
        return "[]"


class Listing(WholeList):
    """An entry that stores each list as it was sent."""

    name, packages, tool = "listing", (), "write"

    def __init__(self):
        self.held = []

    def turn(self, calls):
        for _, text in calls:
            self.held = [Task("", t["content"], t["status"]) for t in json.loads(text)["todos"]]
        return [Answer("ok") for _ in calls]

    def tasks(self):
        return self.held

    def tools(self):
        return "[]"


def test_every_case_is_valid():
    """
    A case has a name of its own and only known keys, wishes and checks; each column has cases.
    """
    assert len(NAMED) == len(WRITTEN)
    assert {case["column"] for case in WRITTEN} == {*COLUMNS}
    for case in WRITTEN:
        assert {"name", "origin", "promise", "steps", "wants", "column"} <= set(case)
        assert set(case) <= {*WRITTEN[0], "documented", "one_call", "must"}, case["name"]
        assert case["origin"].startswith(("https://github.com/", "written", "recorded"))
        assert {wish[0] for wish in case["steps"]} <= WISHES, case["name"]
        assert {key for want in case["wants"] for key in want} <= CHECKS, case["name"]
        assert set(case.get("documented", {})) <= set(ENTRIES)


def test_the_same_seed_gives_the_same_calls():
    """Equal seeds give equal cases, other seeds other cases; every fault occurs."""
    one, other = list(spoiled(1, 3)), list(spoiled(2, 3))
    assert one == list(spoiled(1, 3))
    assert [case["steps"] for case in one] != [case["steps"] for case in other]
    assert {case["spoil"] for case in one} == set(SPOILS)


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_fault_changes_what_it_is_named_for(spoil):
    """Each fault changes a call that has an id, a text and a status."""
    text = json.dumps({"todos": [{"id": "1", "content": "Bake", "status": "pending"}]})
    assert SPOILS[spoil](text) != text


@pytest.mark.parametrize("column", COLUMNS)
def test_a_bad_entry_is_caught_in_every_column(column):
    """The faulty entry has a fault in at least one case of each column."""
    found = [outcome(case, Bad) for case in WRITTEN if case["column"] == column]
    assert "fault" in {each.verdict for each in found}


def test_what_is_documented_is_no_fault():
    """A fault that the entry documents has a verdict of its own, which quotes the document."""
    case = NAMED["rewrite-with-nothing"]
    assert outcome(case, Listing).verdict == "fault"
    told = {**case, "documented": {"listing": "its text"}}
    assert outcome(told, Listing).verdict == "documented"
    assert "its text" in outcome(told, Listing).what


def test_a_spoiled_call_has_a_verdict():
    """
    It is right if the plan is as meant, harm if the entry raises, and "n/a" if nothing was changed.
    """
    made = {case["spoil"]: case for case in spoiled(1, 1)}
    assert outcome(made["other status words"], Listing) == Played("right")
    assert outcome(made["cut in the middle"], Listing).verdict == "harm"
    assert outcome(made["ids with #"], Listing).verdict == "n/a"


@pytest.mark.parametrize("name", OURS)
def test_our_entries_have_the_faults_that_are_known(name):
    """Our entries have exactly the known faults; one that is mended is removed from this list."""
    known = {"todoplan-lean": {"completed-by-mistake", "another-task-first"}}
    found = {c["name"] for c in WRITTEN if outcome(c, entry_class(name)).verdict == "fault"}
    assert found == known.get(name, set())


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_no_spoiled_call_harms_our_plans(name):
    """A call with a fault is read as it was meant, or refused."""
    for case in spoiled(1, 12):
        assert outcome(case, entry_class(name)).verdict in {"right", "refused", "n/a"}, case


def test_langchain_plays_for_real():
    """LangChain plays cases in a real agent with its middleware and a checkpointer."""
    pytest.importorskip("langchain")
    langchain = entry_class("langchain")
    assert outcome(NAMED["the-last-one-completes"], langchain).verdict == "kept"
    assert outcome(NAMED["completions-in-one-turn"], langchain).verdict == "kept"
    assert outcome(NAMED["rewrite-of-a-subtask-only"], langchain).verdict == "documented"
    assert outcome(NAMED["person-adds-and-the-model-goes-on"], langchain).verdict == "fault"
    lived = life(langchain, ["Bake", "Sow"])
    assert lived is not None
    assert "write_todos" in lived.fixed[0] + lived.fixed[1]
    assert len(lived.written) == 3


def test_a_life_that_is_not_completed_has_no_price():
    """If the tasks are not completed in the end, there are no token counts."""
    assert life(Bad, ["Bake", "Sow"]) is None


def test_a_wish_about_a_text_that_is_not_there_is_no_wish():
    """A wish about a text that is not in the list raises a KeyError."""
    with pytest.raises(KeyError):
        applied([("Bake", "pending")], ["complete", "Sow"])


def test_an_entry_without_its_packages_takes_no_part(monkeypatch, tmp_path):
    """The reason is given; only `--apart` makes an environment for an entry."""
    monkeypatch.setitem(NEEDS, "langchain", ("no-such-distribution",))
    with pytest.raises(NotInstalled, match="no-such-distribution"):
        python_of("langchain")
    monkeypatch.setitem(APART, "langchain", ("one==1",))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(NotInstalled, match="--apart makes it"):
        python_of("langchain")
    assert "skipped" in handling.play("langchain", WRITTEN)
    assert environments.APART is APART


def test_an_entry_has_at_most_60_lines():
    """The code of an entry, without blank lines and docstrings, has at most 60 lines."""
    folder = Path(handling.__file__).parents[1] / "handling" / "entries"
    for path in folder.glob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        code = [line for line in lines if line.strip() and not line.strip().startswith('"""')]
        assert len(code) <= 60, path.name


@pytest.mark.slow
def test_the_page_has_a_row_for_each_entry(capsys):
    """The page has a row for each entry, and a case can be played alone by its name."""
    handling.main(["--entry", "todoplan-lean", "--plans", "1"])
    assert "| todoplan-lean | 0/" in capsys.readouterr().out
    handling.main(["--entry", "todoplan-lean", "--case", "rewrite-with-nothing"])
    assert "**rewrite-with-nothing** (lost tasks): kept" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        handling.main(["--case", "no-such-case"])


def test_cases_are_listed(capsys):
    """`--list` prints each case with its promise."""
    handling.main(["--list"])
    assert NAMED["rewrite-with-nothing"]["promise"] in capsys.readouterr().out
