"""What a guess may not do. The calls themselves are in test_bad_input."""

from todoplan.dialogue.intake import GUESSES
from todoplan.texts import wording


def test_every_guess_has_words():
    """The refusal says how the call was read."""
    for code in GUESSES:
        assert "$path" in wording("repairs", code)
