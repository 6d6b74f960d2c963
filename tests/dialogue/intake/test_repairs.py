"""What a guess may not do. The calls themselves are in test_bad_input."""

from todoplan.dialogue.intake import GUESSES, parts_of
from todoplan.texts import wording


def test_every_guess_has_words():
    """The refusal says how the call was read."""
    for code in GUESSES:
        assert "$path" in wording("repairs", code)


def test_no_command_has_no_parts():
    """A call that only reads removes nothing, whatever was guessed."""
    assert list(parts_of(None)) == []
