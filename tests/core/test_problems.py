import ast
import re
from pathlib import Path

import pytest

from todoplan.core import problems as subject
from todoplan.core.problems import Problem, explain, explain_all, ids_text
from todoplan.core.rules import RULES
from todoplan.errors import PlanError
from todoplan.texts import names, wording

PACKAGE = Path(subject.__file__).parents[1]
# The other sections of problems.txt are put around a sentence.
CODES = sorted({*names("problems")} - {"error", "example", "more", "at", "warning", "other"})


def codes_in_the_code():
    """Yield the codes that a problem is made with in the core, the dialogue and the planner."""
    for part in ("core", "dialogue", "planner"):
        for path in sorted((PACKAGE / part).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                name = getattr(node, "func", None)
                called = getattr(name, "attr", getattr(name, "id", ""))
                if called in {"Problem", "refuse"} and node.args:
                    code = node.args[0]
                    if isinstance(code, ast.Constant) and isinstance(code.value, str):
                        yield code.value


def test_every_code_has_a_cause_and_a_remedy():
    """The table names each code that the code gives, once, in two lines; rules are in it too."""
    assert len(CODES) == len(set(CODES)) > 40
    assert not {*codes_in_the_code(), *RULES} - set(CODES)
    for code in CODES:
        cause, remedy = wording("problems", code).split("\n")
        assert cause
        assert remedy, code
        assert set(re.findall(r"\$(\w+)", cause + remedy)) <= {"seen", "legal", "ids"}


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_explained_by_its_cause_and_its_remedy(code):
    """One line, with what was seen and what is allowed in it."""
    text = explain(Problem(code, ("3",), seen="SEEN", legal="LEGAL"))
    filled = wording("problems", code).replace("\n", " ")
    for name, value in (("seen", "SEEN"), ("legal", "LEGAL"), ("ids", "#3")):
        filled = filled.replace(f"${name}", value)
    assert text == filled


def test_a_problem_is_explained_with_its_place_and_in_its_own_words():
    """A rule of the user's own speaks by its note; an unknown code by its name."""
    assert explain(Problem("missing_field", path="todos")) == "todos: is missing. Give it."
    assert explain(Problem("mine", note="Say who does it.")) == "Say who does it."
    assert explain(Problem("mine", seen="x", legal="y")) == "mine: x; allowed: y"


@pytest.mark.parametrize(
    "sign", ["\x1b[2J", "\x9b2J", "\n", "\u2028", "\u202e", "\U000e0041", "\x00"]
)
def test_nothing_that_was_seen_reaches_the_reader_as_a_control(sign):
    """What a model wrote stands in a problem escaped: it cannot act on a terminal or hide."""
    text = explain(Problem("unknown_task", (f"1{sign}",), seen=f"\xe4{sign}b", legal=f"c{sign}d"))
    assert text.isprintable()
    assert "\xe4" in text  # what can be printed is left
    ids = explain(Problem("priority_required", (f"1{sign}", "2")))
    assert ids.isprintable()


@pytest.mark.parametrize(("length", "clipped"), [(240, False), (241, True), (100_000, True)])
def test_what_was_seen_is_clipped_in_the_middle(length, clipped):
    """Up to 240 characters stand as they are; of more, the beginning and the end."""
    seen = "a" * (length - 1) + "b"
    text = explain(Problem("unknown_status", seen=seen, legal="x"))
    assert (" ... " in text) == clipped
    assert (seen in text) != clipped
    assert not clipped or f'"{"a" * 200} ... {"a" * 29}b"' in text
    long_id = explain(Problem("priority_required", ("x" * length, "2")))
    assert f"#{'x' * 37}..., #2:" in long_id
    assert "#" + "y" * 40 + "," in explain(Problem("priority_required", ("y" * 40, "2")))


def test_many_problems_are_named_up_to_a_number_and_the_others_counted():
    """The last line says how many there are besides."""
    three = [Problem("no_op_write")] * 3
    assert len(explain_all(three, 3)) == 3
    assert explain_all(three, 2)[-1] == "and 1 more like these."
    assert len(explain_all([*three] * 10)) == 21


def test_ids_are_shown_as_ranges():
    """In the order of numbers, neighbours joined, at most ten ranges, the rest counted."""
    assert ids_text(["3", "1", "2", "7"]) == "#1-#3, #7"
    assert ids_text(["10", "9"]) == "#9-#10"
    odd = [str(number) for number in range(1, 24, 2)]
    assert ids_text(odd[:10]).count("#") == 10
    assert ids_text([*odd[:10], "21", "22", "23"]).endswith("#19 and 3 more")


@pytest.mark.parametrize("given", [{"task_ids": "12"}, {"seen": 5}, {"path": None}])
def test_a_problem_takes_texts_and_ids(given):
    """A mistake in a rule of one's own is refused where it is made, not where it is told."""
    with pytest.raises(PlanError):
        Problem("mine", **given)
