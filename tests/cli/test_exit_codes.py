"""How commands end."""

import os
import sys

import pytest

from todoplan.cli.exits import exit_with


def raising(error):
    """A job that fails."""

    def job(_):
        raise error

    return job


@pytest.mark.parametrize(
    ("job", "code"),
    [(lambda _: 0, 0), (lambda _: None, 0), (lambda _: 2, 2), (raising(KeyboardInterrupt()), 130)],
)
def test_the_code_is_the_job_s(job, code):
    """A job's own code, or that of an interruption."""
    with pytest.raises(SystemExit) as left:
        exit_with(job)
    assert left.value.code == code


def test_a_closed_pipe_is_141(monkeypatch):
    """What is still buffered is dropped without a complaint."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit) as left:
            exit_with(lambda _: stream.write("words") and 0)
        stream.write("more words")
    assert left.value.code == 141
