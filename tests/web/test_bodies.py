"""Bodies that no parser may see: how deep JSON is nested, without parsing it."""

import pytest

from todoplan.web import DEEPEST, is_too_deep

MANY = DEEPEST + 1


@pytest.mark.parametrize(
    "body",
    [
        b"[" * MANY,
        b"[" * MANY + b"]" * MANY,
        b'{"a":' * MANY,
        b'[{"a":' * MANY,
        rb'["\"]", ' + b"[" * DEEPEST,
        b"[]" * MANY + b"[" * MANY,
    ],
)
def test_what_is_nested_deeper_than_the_limit_is_too_deep(body):
    """Lists and objects count alike, closed or not, behind texts and behind what was closed."""
    assert is_too_deep(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"a": [1, "b"]}',
        b"[" * DEEPEST + b"]" * DEEPEST,
        b"[" + b"{}, " * MANY + b"{}]",
        b'["' + b"[{" * MANY + b'"]',
        rb'["' + rb"\"[[" * MANY + rb'"]',
        b'["unclosed' + b"[" * MANY,
    ],
)
def test_what_is_nested_up_to_the_limit_is_not_too_deep(body):
    """Depth counts, and not the number of brackets: those within a text are text."""
    assert not is_too_deep(body)


def test_a_body_with_a_zero_byte_is_too_deep():
    """In UTF-16, texts and brackets cannot be told apart by their bytes."""
    assert is_too_deep('["a"]'.encode("utf-16"))
    assert is_too_deep(b"\0")
