"""The changelog: the newest version is the package's, and each has its date."""

import re

from support.docs import ROOT

import todoplan

TEXT = (ROOT / "CHANGELOG.md").read_text("utf-8")
HEADS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)


def test_the_newest_version_is_the_package_s():
    """Above it stands what is not released yet, and nothing else."""
    assert HEADS[0] == "[Unreleased]"
    assert HEADS[1].startswith(f"[{todoplan.__version__}] - ")


def test_every_version_is_dated_and_they_go_back_in_time():
    """As Keep a Changelog has it: a version in brackets, and an ISO date."""
    dated = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", head) for head in HEADS[1:]]
    assert all(dated)
    dates = [found[2] for found in dated]
    assert dates == sorted(dates, reverse=True)


def test_the_sections_are_those_of_keep_a_changelog():
    """And upgrade notes, which say what breaks and what to write instead."""
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Upgrade notes"}
    assert set(re.findall(r"^### (.+)$", TEXT, re.MULTILINE)) <= known


def test_no_version_has_a_section_twice():
    """Who looks for what is new finds all of it in one place."""
    for version in TEXT.split("\n## ")[1:]:
        sections = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert len(sections) == len(set(sections)), version.partition("\n")[0]
