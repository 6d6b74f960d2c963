"""How commands end."""

import os
import sys

import pytest

from todoplan.cli.exits import exit_code_of


def interrupted(_):
    """Act as a job that is ended by Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("job", "code"), [(lambda _: 0, 0), (lambda _: None, 0), (lambda _: 2, 2), (interrupted, 130)]
)
def test_the_code_is_the_job_s(job, code):
    """A job's own code, or that of an interruption."""
    assert exit_code_of(job) == code


def test_a_closed_pipe_is_141(monkeypatch):
    """What is still buffered is dropped without a complaint."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert exit_code_of(lambda _: stream.write("words") and 0) == 141
        stream.write("more words")
