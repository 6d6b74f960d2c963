"""
The programs of coding agents, from the npm package index, in a folder outside the checkout.

`TODOPLAN_HOSTS` names the folder, else it is `todoplan-hosts` in the user's cache folder. No
install script of a package is run.
"""

import fcntl
import os
import platform
import shutil
import subprocess
from pathlib import Path


class MissingHostError(Exception):
    """A program that cannot be had here, with the reason."""


def cache():
    """Return the folder of the installed programs."""
    named = os.environ.get("TODOPLAN_HOSTS")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else home / "todoplan-hosts"


def installed(host):
    """
    Return the command line of a host that is installed.

    Raises:
        MissingHostError: it is not.
    """
    folder = cache() / host.folder
    if not folder.is_dir():
        msg = f"{host.title} is not installed; `python -m tests.hosts --install {host.name}`"
        raise MissingHostError(msg)
    return [str(folder / part) for part in host.program]


def install(host):
    """
    Install a host unless it is there, and return its command line.

    Raises:
        MissingHostError: it cannot be installed here.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        msg = f"{host.title} is tried on Linux with x86-64 alone"
        raise MissingHostError(msg)
    npm = shutil.which("npm")
    if npm is None:
        msg = f"{host.title} comes by npm, which is not installed"
        raise MissingHostError(msg)
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{host.folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the tests wait for one installation
        if not (cache() / host.folder).is_dir():
            _install(npm, host)
    return installed(host)


def _install(npm, host):
    part = cache() / f"{host.folder}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    # A package.json of its own, or npm installs beside the one of a folder above.
    (part / "package.json").write_text("{}")
    options = [
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=0",
    ]
    line = [npm, "install", *options, *host.packages]
    try:
        done = subprocess.run(
            line,
            cwd=part,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        msg = f"{host.title} was not installed within {error.timeout} s"
        raise MissingHostError(msg) from None
    if done.returncode or not all((part / each).exists() for each in host.program):
        said = [row for row in done.stderr.splitlines() if "error" in row][:3]
        msg = f"{host.title} cannot be installed: {'; '.join(said) or 'its program is missing'}"
        raise MissingHostError(msg)
    part.rename(cache() / host.folder)
