"""Acting as a user without rights, for tests of permissions: root may write everywhere."""

import gc
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def as_nobody():
    """Run a `with` block as the user nobody."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as somebody else")
    gc.collect()  # only root can close what root has opened
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def folder_for_all():
    """Yield a folder that every user can enter; folders of pytest are private."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder
