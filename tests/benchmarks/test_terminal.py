"""The picture of the command line is what the command prints."""

import re

from benchmarks.plots.terminal import drawn


def test_the_picture_shows_what_is_printed_and_loads_nothing():
    """Every printed line is in it; no font, script or image comes from elsewhere."""
    picture = drawn(["schema", "lean"], most=5)
    texts = [
        text.replace("&#160;", " ").strip() for text in re.findall(r">([^<>]+)</text>", picture)
    ]
    assert "$ todoplan schema lean" in texts
    assert len(texts) > 4
    assert not re.search(r"@font-face|<script|<image|url\(['\"]?http", picture)
