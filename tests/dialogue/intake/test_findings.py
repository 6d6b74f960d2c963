"""What comes up while arguments are read."""

from todoplan.core.problems import Problem
from todoplan.dialogue.intake.findings import MISSING, Findings
from todoplan.dialogue.intake.repairs import Repair


def test_mends_and_faults_are_kept_in_order():
    """With what was seen, quoted."""
    notes = Findings()
    notes.repair("word", "p", "a\n", "b")
    assert notes.refuse("bad_id", "q", None, "an id") is MISSING
    assert notes.repairs == [Repair("word", "p", "a\\n", "b")]
    assert notes.problems == [Problem("bad_id", (), "null", "an id", "q")]


def test_an_expected_text_is_nothing_to_tell():
    """A JSON text where the schema asks for one is read in silence; its own mends are told."""
    notes = Findings()
    assert notes.decoded("[1]", "p", expected=True) == [1]
    assert notes.repairs == []
    assert notes.decoded("[1,]", "p", expected=True) == [1]
    assert notes.repairs == [Repair("noise", "p")]
    assert notes.decoded("[1]", "p") == [1]
    assert notes.repairs[-1] == Repair("json_text", "p")


def test_broken_text_is_refused_at_its_place():
    """Also when it stands for all arguments."""
    notes = Findings()
    assert notes.decoded('{"a": ', "") is MISSING
    assert notes.problems[0].path == "arguments"


def test_clean_text_is_returned_as_it_is():
    """A leaked tag is a lost field, a hidden character a mend."""
    notes = Findings()
    assert notes.cleaned("a < b", "p") == "a < b"
    assert notes.cleaned("a\x00", "p") == "a"
    assert notes.cleaned('<parameter name="x">', "p") is MISSING
    assert [mend.code for mend in notes.repairs] == ["hidden_characters"]
