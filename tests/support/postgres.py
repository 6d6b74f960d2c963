"""A PostgreSQL server of our own for a test session: no TCP, gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def binaries():
    """
    Return the folder of initdb and pg_ctl, from PATH or Debian's place; `None` if there is none.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    initdb = found[-1] if found else shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def _version(path):
    return int("".join(filter(str.isdigit, path.parts[4])) or 0)


@contextmanager
def server():
    """
    Yield the address of a fresh server.
    """
    home = Path(tempfile.mkdtemp(prefix="pg"))
    home.chmod(0o755)
    data, log = home / "data", home / "log"
    who = {}
    if os.geteuid() == 0:
        who = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(home, "postgres", "postgres")

    def run(*command):
        subprocess.run(
            [binaries() / command[0], *command[1:]],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            **who,
        )

    flags = ["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--no-locale"]
    options = f"-c listen_addresses='' -k {home} -F"
    try:
        run("initdb", "-D", data, *flags)
        run("pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            yield f"postgresql://postgres@/postgres?host={home}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home)
