"""Repairs, and what a guess may not do. The calls themselves are in test_bad_input."""

from todoplan.dialogue.intake import GUESSES, Intake, Repair, is_guess
from todoplan.texts import wording


def test_a_guess_is_about_the_container():
    """Intake says so; a repaired word or an exact text of a list is none."""
    assert Intake({}, (Repair("word"), Repair("checklist"))).guessed
    assert not Intake({}, (Repair("word"), Repair("json_text"))).guessed
    assert not is_guess(())


def test_every_guess_has_words():
    """The refusal says how the call was read."""
    for code in GUESSES:
        assert "$path" in wording("repairs", code)
