"""Acting as a user who may not write: root may write wherever the file system lets it."""

import gc
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def as_nobody():
    """Have this process act without its rights for a while."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as somebody else")
    gc.collect()  # what is root's to close
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def folder_for_all():
    """Yield a folder that everybody can reach: those of pytest are their owner's alone."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder
