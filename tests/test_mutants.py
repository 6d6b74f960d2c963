"""The mutants that `python -m tests.mutants` draws: tables and decorated functions among them."""

from mutants import Points, changed, drawn, mutants, room_tests

SOURCE = '''\
"""The docstring of a module."""

from typing import Literal

__all__ = ["TABLE", "rule"]
TABLE = {"a": 1, "b": 2}
NAMES = ("x", "y")
Word = Literal["on", "off"]


@registered("name", how=True)
def rule(change: "Change") -> bool:
    """The docstring of a function."""
    if change.a < 3 and not change.b:
        note(change, twice=False)
    msg = "the words of an error"
    return change.a + 1 in TABLE
'''


def made(source):
    """Return the changes of a source in words, by kind."""
    found = {}
    for kind, first, last, text in Points(source).found:
        before = source.encode()[first:last].decode()
        found.setdefault(kind, []).append((before, text))
    return found


def test_each_kind_of_change_is_found():
    """In conditions, tables, decorators, arguments, calls and results."""
    found = made(SOURCE)
    assert found["row"] == [('"a": 1, ', ""), ('"b": 2', ""), ('"x", ', ""), ('"y"', "")]
    assert found["decorator"] == [('@registered("name", how=True)', "")]
    assert found["compare"] == [(" < ", " <= "), (" in ", " not in ")]
    assert found["call"] == [("note(change, twice=False)", "pass")]
    assert found["return"] == [("change.a + 1 in TABLE", "None")]
    assert found["argument"] == [("twice=False", "")]
    assert found["arithmetic"] == [(" + ", " - ")]
    assert (" and ", " or ") in [
        (f" {old.strip()} ", f" {new.strip()} ") for old, new in found["boolean"]
    ]
    assert ("False", "True") in found["constant"]


def test_docstrings_annotations_and_words_of_errors_are_left_alone():
    """And public names, and legal words of a type."""
    said = [old for of in made(SOURCE).values() for old, _ in of]
    for words in ("docstring", "Change", "the words of an error", "rule", "off"):
        assert not any(words in old and old.startswith('"') for old in said)


def test_equal_seeds_draw_equal_mutants_that_are_python():
    """Of every kind that there is."""
    found = mutants("todoplan/core/plan/model.py")
    names = []
    for seed in (1, 1, 2):
        chosen = drawn(found, seed)
        names.append([next(chosen)[0] for _ in range(20)])
    assert names[0] == names[1] != names[2]
    name, place, change, _ = next(drawn(found, 1))
    compile(changed(place, change), name, "exec")


def test_the_tests_of_a_room_are_chosen_own_file_first():
    """The laws follow where they are about the room."""
    assert room_tests("todoplan/core/decide.py") == ("tests/core", "tests/laws")
    assert room_tests("todoplan/stores/file.py") == ("tests/stores/test_file.py", "tests/stores")
    assert room_tests("todoplan/adapters/strands/agent.py")[-1] == "tests/adapters/strands"
