"""Rules from presets, TOML files and single settings."""

import pytest
from support.docs import fenced

from todoplan import CLAUDE, DEFAULT, Limits
from todoplan.cli.plans import policy_of
from todoplan.core.rules import PRESETS
from todoplan.errors import PlanError, ReadError

FULL = """
preset = "claude"

[rules]
single_in_progress = "warn"
max_items = 50
linear_status = "off"

[limits]
open_items = 20
"""


@pytest.fixture
def file(tmp_path):
    """What writes a file and gives its name."""

    def write(content):
        path = tmp_path / "rules.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_itself(name):
    """Without rules nothing is changed."""
    assert policy_of(name) == PRESETS[name]


def test_single_rules_stand_upon_it():
    """Severities and numbers."""
    wanted = DEFAULT.but(linear_status="error", max_items=50)
    assert policy_of("default", ["linear_status=error", "max_items=50"]) == wanted


def test_a_file_has_preset_rules_and_limits(file):
    """As the same in Python; settings of the command line stand upon it."""
    wanted = CLAUDE.but(limits=Limits(open_items=20)).but(
        single_in_progress="warn", max_items=50, linear_status="off"
    )
    assert policy_of(file(FULL)) == wanted
    assert policy_of(file(FULL), ["max_items=7"]) == wanted.but(max_items=7)


def test_an_empty_file_is_the_default(file):
    """Everything may be left out."""
    assert policy_of(file("")) == DEFAULT


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (["max_items"], "'max_items' has no value; write max_items=off"),
        (["max_item=5"], "--rule max_item: no rule is called max_item; did you mean max_items"),
        (
            ["max_items=many"],
            "--rule max_items: 'many' (str) is no severity; write one of off, warn, error",
        ),
        (
            ["linear_status=5"],
            '--rule linear_status: 5 is none of "off", "warn", "error"; only max_items, ',
        ),
        (["linear_status=5"], "take a number; other limits are in a file's table [limits]"),
        (["limits=5"], "--rule limits: there is no such rule"),
        # A number has at most 15 digits; more are read as a word.
        ([f"linear_status={'9' * 15}"], f'{"9" * 15} is none of "off", "warn", "error"'),
        ([f"linear_status={'9' * 16}"], f"'{'9' * 16}' (str) is no severity"),
        ([f"max_items={'9' * 5000}"], "--rule max_items"),
    ],
)
def test_a_wrong_rule_is_refused(rules, reason):
    """The reason names the option."""
    with pytest.raises(PlanError) as caught:
        policy_of("default", rules)
    assert reason in str(caught.value)


def test_all_faults_of_a_file_are_told_at_once(file):
    """Each with its place."""
    text = (
        'preset = 3\nrule = 1\n[rules]\nx = "warn"\nmax_items = true\n[limits]\ny = 1\nitems = -1'
    )
    with pytest.raises(PlanError) as caught:
        policy_of(file(text))
    places = [fault.partition(":")[0] for fault in caught.value.data["faults"]]
    assert places == ["rule", "preset", "limits.y", "limits.items", "rules.x", "rules.max_items"]


def test_what_should_be_a_table_is_told(file):
    """It may be written before a table's head."""
    with pytest.raises(PlanError, match=r"rules: this is a table, \[rules\]; limits: this is"):
        policy_of(file('rules = "strict"\nlimits = 5'))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[rules", "is no TOML"),
        (b"\xff", "is no TOML"),
        ("a = " + "[" * 100_000, "is no TOML"),
        ("#" * 1_000_001, "larger than"),
    ],
)
def test_what_is_no_toml_is_refused(file, content, reason):
    """Whatever stands in it."""
    with pytest.raises(ReadError, match=reason):
        policy_of(file(content))


def test_a_missing_file_is_told():
    """With the system's reason."""
    with pytest.raises(ReadError, match=r"cannot read nowhere\.toml: No such file"):
        policy_of("nowhere.toml")


def test_the_file_that_the_guide_shows_is_read(file):
    """Its settings are those that its comments say."""
    shown = policy_of(file(fenced("rules", "code: rules.toml", "toml")))
    limits = Limits(items=50, open_items=20, subject=80)
    assert shown == CLAUDE.but(
        single_in_progress="warn", linear_status="error", max_items=50, limits=limits
    )
