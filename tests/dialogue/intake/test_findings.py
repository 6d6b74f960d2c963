"""What comes up while arguments are read."""

from todoplan.core.problems import Problem
from todoplan.dialogue.intake import MISSING, MOST_KEPT, Findings, Repair


def test_repairs_and_faults_are_kept_in_order():
    """With what was seen, quoted."""
    findings = Findings()
    findings.repair("word", "p", "a\n", "b")
    assert findings.refuse("bad_id", "q", None, "an id") is MISSING
    assert findings.repairs == [Repair("word", "p", "a\\n", "b")]
    assert findings.problems == [Problem("bad_id", (), "null", "an id", "q")]


def test_an_expected_text_is_nothing_to_tell():
    """A JSON text where the schema asks for one is read silently; its own repairs are reported."""
    findings = Findings()
    assert findings.decoded("[1]", "p", expected=True) == [1]
    assert findings.repairs == []
    assert findings.decoded("[1,]", "p", expected=True) == [1]
    assert findings.repairs == [Repair("trailing_comma", "p")]
    assert findings.decoded("[1]", "p") == [1]
    assert findings.repairs[-1] == Repair("json_text", "p")


def test_broken_text_is_refused_at_its_place():
    """Also when it stands for all arguments."""
    findings = Findings()
    assert findings.decoded('{"a": ', "") is MISSING
    assert findings.problems[0].path == "arguments"


def test_clean_text_is_returned_as_it_is():
    """A leaked tag is a lost field, a hidden character a repair."""
    findings = Findings()
    assert findings.cleaned("a < b", "p") == "a < b"
    assert findings.cleaned("a\x00", "p") == "a"
    assert findings.cleaned('<parameter name="x">', "p") is MISSING
    assert [repair.code for repair in findings.repairs] == ["hidden_characters"]


def test_no_more_than_so_many_faults_are_kept():
    """All are counted, so that what comes late does not look sound."""
    findings = Findings()
    for _ in range(MOST_KEPT + 5):
        findings.refuse("bad_id", "p")
    assert (len(findings.problems), findings.faults) == (MOST_KEPT, MOST_KEPT + 5)


def test_a_refusal_of_a_text_says_what_was_seen_and_what_is_allowed():
    """Too many levels with their limit, a field that was swallowed with the text around it."""
    findings = Findings()
    leaked = '<parameter name="x">'
    assert findings.decoded("[" * 33 + "]" * 33, "p") is MISSING
    assert findings.cleaned(leaked, "q") is MISSING
    assert findings.problems == [
        Problem("too_deep", (), "over 32 levels", "32", "p"),
        Problem("swallowed_field", (), leaked, "", "q"),
    ]
