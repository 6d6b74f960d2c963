"""The words of models: closed tables, never a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import number_of
from todoplan.dialogue.intake import (
    ABSENT,
    WORDS,
    Kind,
    WaitingWord,
    checklist,
    id_of,
    ids_in,
    indentation,
    is_reference,
    meaning_of,
)

STATUSES = {
    "pending": "pending todo open notstarted notdone new queued \u2610 \u23f3",
    "in_progress": "inprogress doing active started running ongoing current wip \U0001f504",
    "completed": "completed complete done finished closed resolved success "
    "\u2713 \u2714 \u2705 \u2611",
    "cancelled": "cancelled canceled abandoned skipped dropped wontdo obsolete \u274c",
    "failed": "failed failure fail error errored unsuccessful",
    WaitingWord("blocked"): "blocked",
    WaitingWord("waiting"): "waiting awaiting",
    WaitingWord("on hold"): "onhold hold held paused suspended postponed deferred",
    WaitingWord("input"): "needsinput inputneeded inputrequired waitingforinput awaitinginput "
    "needsinfo",
    WaitingWord("the user"): "needsuser waitingforuser awaitinguser waitingonuser",
    WaitingWord("approval"): "needsapproval waitingforapproval awaitingapproval pendingapproval",
    WaitingWord("review"): "review inreview needsreview waitingforreview awaitingreview",
}
PRIORITIES = {
    "high": "high urgent critical p0 p1 important",
    "medium": "medium normal mid moderate p2",
    "low": "low minor p3 p4",
}


@pytest.mark.parametrize(
    ("kind", "meanings"),
    [
        (Kind.STATUS, STATUSES),
        (Kind.STATUS_OR_DELETED, STATUSES | {"deleted": "deleted delete remove removed"}),
        (Kind.PRIORITY, PRIORITIES),
    ],
)
def test_the_words_for_statuses_and_priorities_are_these(kind, meanings):
    """One by one, so that none is lost, added or moved unseen; boxes are tested below."""
    expected = {word: value for value, listed in meanings.items() for word in listed.split()}
    assert {word: value for word, value in WORDS[kind].items() if word[0] != " "} == expected
    for word, value in expected.items():
        assert meaning_of(word, kind) == meaning_of(f" {word.upper()}", kind) == value


def test_words_that_stand_for_nothing():
    """They count as not given where a word or an id is asked for."""
    assert {"", "none", "null", "undefined", "nil"} == ABSENT


def test_an_id_has_at_most_eighteen_digits():
    """As a text, with a sign before it, and as a number."""
    for given_id in ("9" * 18, f"#{'9' * 18}", f"step {'9' * 18}", int("9" * 18)):
        assert id_of(given_id) == "9" * 18
    for given_id in ("9" * 19, f"#{'9' * 19}", 10**18, "1" + "0" * 18):
        assert id_of(given_id) is None
    assert is_reference("#" + "9" * 18)
    assert not is_reference("#" + "9" * 19)


def test_a_float_is_an_id_only_as_long_as_it_is_exact():
    """Above 10**15 two whole numbers may be one float, and the task meant may be another."""
    assert id_of(1e15 - 1) == "9" * 15
    assert id_of(1e15) is None
    assert id_of(1.5) is None


@pytest.mark.parametrize("word", ["task", "todo", "item", "step", "Task", "STEP"])
@pytest.mark.parametrize("sign", ["", " ", "#", "-", "_", " #"])
def test_words_before_an_id(word, sign):
    """Four of them, with any of the usual signs between."""
    assert id_of(f"{word}{sign}3") == "3"
    assert id_of(f"note{sign}3") is None


@given(st.integers(1, 10**15 - 1))
def test_an_id_has_one_form(number):
    """However it is spelled."""
    for given_id in (
        number,
        float(number),
        str(number),
        f"#{number}",
        f"task-{number}",
        f"0{number}",
    ):
        assert id_of(given_id) == str(number)


@given(st.text(max_size=12) | st.floats() | st.integers() | st.booleans() | st.none())
def test_what_is_an_id_is_one_of_the_core(value):
    """What comes out is always a number that the core takes for an id."""
    found = id_of(value)
    assert found is None or number_of(found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2", ["1", "2"]),
        ("1 and 2", ["1", "2"]),
        ("1; 2", ["1", "2"]),
        ("task 3", ["task 3"]),
        (" ", []),
    ],
)
def test_lists_of_ids_in_a_text(text, parts):
    """Split at commas, spaces and "and"."""
    assert ids_in(text) == parts


def test_references():
    """A number sign and ASCII digits."""
    assert is_reference("#0")
    assert not any(map(is_reference, ("0", "#", "#x", "#\uff10", "#1 ")))


def rows(text):
    """Return title, status and level of each line of a checklist."""
    found = checklist(text)
    return found and [(line.title, line.status, line.level) for line in found]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "- [ ] a\n+ [X] b  \n\n 12) [-] c",
            [("a", "pending", None), ("b", "completed", None), ("c", "in_progress", None)],
        ),
        ("[>] a", [("a", "in_progress", None)]),
        (
            "- [x] a\n  - [!] b\n\t\t- [ ] c\n- [ ] d",
            [("a", "completed", 0), ("b", "blocked", 1), ("c", "pending", 2), ("d", "pending", 0)],
        ),
        ("- [ ] a\nb", None),
        ("[ ]", None),
        ("", None),
        ("[link](x)", None),
    ],
)
def test_checklists(text, items):
    """Every line is an item, or the text is none."""
    assert rows(text) == items


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("1. a\n2. b\n3. c", "abc"),
        ("\n 1) a \n\n2) b", "ab"),
        ("1. a\n   2. b", "ab"),
        ("- a\n* b", "ab"),
        ("  - a\n  - b", "ab"),
        ("\n".join(f"{number}. x" for number in range(1, 13)), "x" * 12),
    ],
)
def test_lists_without_boxes(text, titles):
    """Two or more lines, numbered from 1 or bulleted at one depth; nothing is said of a status."""
    assert rows(text) == [(title, None, None) for title in titles]


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("- a\n  - b\n- c", [0, 1, 0]),
        ("- a\n\t- b\n\t\t- c\n  - d", [0, 1, 2, 1]),
        ("1. a\n   1. b\n   2. c\n2. d", [0, 1, 1, 0]),
        ("1. a\n   - b\n   - c\n2. d\n   - e", [0, 1, 1, 0, 1]),
        ("1. a\n1.1 b\n1.2 c\n2. d\n2.1 e\n2.1.1 f", [0, 1, 1, 0, 1, 2]),
        ("1. a\n  1.1. b\n  1.2. c\n2. d", [0, 2, 2, 0]),
        ("- a\n    - b\n  - c", [0, 2, 1]),
    ],
)
def test_lists_in_lists(text, levels):
    """Bulleted, or numbered from 1 within each, also with dots: levels are how deep lines lie."""
    assert [line.level for line in checklist(text)] == levels


@pytest.mark.parametrize(
    ("text", "levels"), [("a", 0), (" a", 0), ("  a", 1), ("\ta", 1), (" \t a", 2), ("    ", 2)]
)
def test_two_spaces_or_a_tab_are_a_level(text, levels):
    """One space alone is none."""
    assert indentation(text) == levels


@pytest.mark.parametrize(
    "text",
    [
        "1. a",
        "- a",
        "2. a\n3. b",
        "0. a\n1. b",
        "1. a\n1. b",
        "1. a\n3. b",
        "1. a\n2) b",
        "01. a\n02. b",
        "1.a\n2.b",
        "1. a\n- b",
        "1. a\nmore of a\n2. b",
        "  - a\n- b",
        "1. a\n  2. b\n    1. c",
        "1. a\n1.2 b",
        "1. a\n  - b\n  1. c",
        "1 a\n2 b",
        "-a\n-b",
        "- \n- ",
        "- [ ] a\n- b",
        "1. [ ] a\n2. b",
        "a\nb",
    ],
)
def test_what_could_be_one_text_is_no_list(text):
    """One line, gaps in the numbers, several depths, boxes on some: such a text stays as it is."""
    assert checklist(text) is None


@given(st.lists(st.text("abc .-", min_size=1).filter(str.strip), min_size=2, max_size=12))
def test_a_numbered_list_reads_back(titles):
    """Whatever plain titles stand behind the numbers."""
    text = "\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1))
    assert rows(text) == [(title.strip(), None, None) for title in titles]


@pytest.mark.parametrize(
    ("box", "status"),
    [
        *((box, Status.PENDING) for box in ("[ ]", "[]")),
        *((box, Status.COMPLETED) for box in ("[x]", "[X]")),
        *((f"[{mark}]", Status.IN_PROGRESS) for mark in "~*>/-"),
        ("[!]", WaitingWord("blocked")),
    ],
)
def test_a_box_means_the_same_alone_and_in_a_list(box, status):
    """`[-]` is under way, as Roo writes it; `[!]` waits, as in pydantic-ai-todo and its like."""
    assert meaning_of(box, Kind.STATUS) == meaning_of(f" [ {box[1:-1]} ]", Kind.STATUS) == status
    ((_, word, _),) = rows(f"- {box if box != '[]' else '[ ]'} a")
    assert meaning_of(word, Kind.STATUS) == status


def test_other_marks_mean_nothing():
    """Nor does a word with more around it, or a box where a priority is wanted."""
    for word in ("[?]", "pending!", "[_x_]", ""):
        assert meaning_of(word, Kind.STATUS) is None
    assert meaning_of("[x]", Kind.PRIORITY) is None
