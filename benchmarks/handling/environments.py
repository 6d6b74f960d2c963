"""
Where an entry runs: in this environment, or in a separate one in a cache folder.

A separate environment is for implementations whose pinned versions conflict with
`requirements.txt`.
"""

import hashlib
import os
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.handling.entries import APART, NEEDS

__all__ = ["NotInstalled", "python_of"]


class NotInstalled(Exception):  # noqa: N818 - no error: the entry takes no part
    """The entry cannot run, for the reason that the text gives."""


def python_of(entry: str, *, make: bool = False) -> str:
    """
    Return the interpreter of an entry. With `make`, a missing separate environment is created.

    Raises:
        NotInstalled: its packages are not installed here, or its environment does not exist.
    """
    if entry not in APART:
        for name in NEEDS.get(entry, ()):
            try:
                version(name)
            except PackageNotFoundError:
                msg = f"{name} is not installed"
                raise NotInstalled(msg) from None
        return sys.executable
    pins = APART[entry]
    mark = hashlib.sha256("\n".join(pins).encode()).hexdigest()[:8]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = cache / "todoplan-benchmarks" / f"{entry}-{mark}"
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = place / "done"
    if not done.exists():
        if not make:
            msg = f"it needs an environment of its own ({', '.join(pins)}); --apart makes it"
            raise NotInstalled(msg)
        venv.create(place, with_pip=True, clear=True)
        made = subprocess.run(  # noqa: S603 - pins of this checkout
            [python, "-m", "pip", "install", "--quiet", *pins],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            last = (made.stderr.strip().splitlines() or ["no word"])[-1]
            msg = f"pip could not install {', '.join(pins)}: {last:.200}"
            raise NotInstalled(msg)
        done.touch()
    return str(python)
