"""Checking a policy, and a stored plan by it."""

import pytest
from support.json_documents import data_of

from todoplan import LANGCHAIN, Planner, Toolbox
from todoplan.cli.plans import policy_of
from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.stores.file import FileStore


@pytest.fixture
def stored(tmp_path):
    """A file with a plan of which two tasks are in progress."""
    path = tmp_path / "plans.json"
    planner = Planner(FileStore(path), "garden", toolbox=Toolbox(policy=LANGCHAIN))
    for subject in ("Sow", "Reap"):
        planner.apply(CreateTask(subject, status="in_progress"))
    return path


@pytest.fixture
def rules(tmp_path):
    """What writes a file of rules."""

    def write(text):
        path = tmp_path / "rules.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.usefixtures("project")
def test_a_file_of_rules_is_checked_by_itself(invoke, rules):
    """What is on is listed, at which severity."""
    path = rules('preset = "langchain"\n[rules]\nsingle_in_progress = "warn"\n')
    result = invoke("check", "--policy", path)
    assert result.exit_code == 0
    first, *rest = result.stdout.splitlines()
    levels = [level.value for _, level in policy_of(str(path)).rules]
    errors, warnings = levels.count("error"), levels.count("warn")
    assert first == f"rules of {path}: {errors} at error, {warnings} at warn"
    assert (errors, warnings) > (0, 0)
    assert "  single_in_progress: warn" in rest
    assert not any("off" in line for line in rest)


def test_a_file_with_faults_is_exit_2_with_all_of_them(invoke, rules):
    """Not only the first."""
    result = invoke("check", "--policy", rules('preset = "lax"\n[rules]\nbatches = "warn"\n'))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "preset: 'lax' is none of" in result.stderr
    assert "rules.batches: no rule is called batches" in result.stderr


def test_a_plan_that_keeps_the_rules_is_exit_0(invoke, stored):
    """Its size and revision are told."""
    result = invoke("check", "--store", stored)
    assert result.exit_code == 0
    assert result.stdout.endswith(
        "plan 'garden', revision 2: 0/2 completed, 2 in progress\n  keeps them\n"
    )


def test_a_plan_that_breaks_a_rule_is_exit_1(invoke, stored):
    """Each place is named, for people and for programs."""
    options = ("check", "--store", stored, "--rule", "single_in_progress=error")
    result = invoke(*options)
    assert result.exit_code == 1
    assert "  single_in_progress: 2 tasks are in progress" in result.stdout
    as_data = invoke(*options, "--json")
    assert as_data.exit_code == 1
    data = data_of(as_data)
    assert (data["plan"], data["revision"]) == ("garden", 2)
    assert [problem["code"] for problem in data["problems"]] == ["single_in_progress"]


@pytest.mark.usefixtures("project")
def test_rules_alone_have_no_plan_in_the_document(invoke):
    """`null` stands for it."""
    data = data_of(invoke("check", "--json"))
    assert (data["plan"], data["revision"], data["problems"]) == (None, None, [])


def test_a_journal_that_does_not_lead_to_the_plan_is_exit_2(invoke, stored, monkeypatch):
    """A store may keep both, and one of them may be damaged."""
    monkeypatch.setattr(FileStore, "load", lambda *_: Plan())
    result = invoke("check", "--store", stored)
    assert result.exit_code == 2
    assert "the journal of 'garden' does not lead to the stored plan" in result.stderr
