"""Findings by code."""

import pytest

from todoplan.core.rules import Severity
from todoplan.transcripts.output import groups, where
from todoplan.transcripts.output import recording_summary as summary
from todoplan.transcripts.replay import Finding


def finding(code, severity="warn", line=1, lane="main"):
    """A finding."""
    return Finding(code, Severity(severity), line, lane, (), "text")


def test_errors_come_first():
    """Within a severity, the order is that of the recording."""
    found = groups(map(finding, "abab"), 0) + groups([finding("c"), finding("d", "error")], 0)
    assert [(group.code, group.mark, group.count) for group in found] == [
        ("a", "!", 2),
        ("b", "!", 2),
        ("d", "!!", 1),
        ("c", "!", 1),
    ]


def test_five_of_each_are_shown():
    """The rest is counted."""
    (group,) = groups([finding("a", line=line) for line in range(8)], 0)
    assert [one.line for one in group.shown] == [0, 1, 2, 3, 4]
    assert group.rest == "and 3 more; see --json"
    assert groups([finding("a")], 0)[0].rest == ""


def test_bad_lines_are_counted_though_not_kept():
    """Their number is given from outside."""
    assert groups([finding("bad_line")], 9000)[0].count == 9000


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        ([], ""),
        ([finding("a")], "1 warning"),
        ([finding("a", "error")] * 2, "2 errors"),
        ([finding("a", "error"), finding("b"), finding("b")], "1 error, 2 warnings"),
    ],
)
def test_the_summary_counts_by_severity(findings, text):
    """What there is none of is left out."""
    assert summary(groups(findings, 0)) == text


@pytest.mark.parametrize(
    ("lane", "text"), [("main", "line 3"), ("", "line 3"), ("mo\nle", "line 3 (mo le)")]
)
def test_a_place_is_a_line_and_perhaps_a_lane(lane, text):
    """The main lane goes without saying."""
    assert where(finding("a", line=3, lane=lane)) == text
