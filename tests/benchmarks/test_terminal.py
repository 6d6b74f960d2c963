"""The picture of the command line shows what the command prints."""

import re

import pytest

from benchmarks.plots.terminal import drawn

pytestmark = pytest.mark.slow


def test_the_picture_shows_what_is_printed_and_loads_nothing():
    """The picture has every printed line, and no font, script or image from elsewhere."""
    picture = drawn(["schema", "lean"], most=5)
    texts = [
        text.replace("&#160;", " ").strip() for text in re.findall(r">([^<>]+)</text>", picture)
    ]
    assert "$ todoplan schema lean" in texts
    assert len(texts) > 4
    assert not re.search(r"@font-face|<script|<image|url\(['\"]?http", picture)


def test_columns_stand_where_they_were_printed():
    """No text has blanks at its beginning or two in a row, which some renderers drop."""
    picture = drawn(["schema", "lean"], most=5)
    texts = re.findall(r'x="([\d.]+)" y="[\d.]+" textLength="[\d.]+"[^>]*>([^<]+)</text>', picture)
    assert texts
    assert not any(text.startswith("&#160;") or "&#160;&#160;" in text for _, text in texts)
    columns = {text: float(x) for x, text in texts}
    assert columns["{"] == 0
    assert columns["&quot;plan&quot;:&#160;{"] == pytest.approx(2 * 12.2)
    assert columns["&quot;type&quot;:&#160;&quot;object&quot;,"] == pytest.approx(4 * 12.2)
