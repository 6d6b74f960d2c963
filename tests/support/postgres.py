"""A PostgreSQL server for a test session, without TCP; it is deleted afterwards."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from copy import copy
from itertools import count
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
def running(*, fsync=False):
    """Yield a fresh `Server` that runs; without `fsync` it would not survive a power cut."""
    home = Path(tempfile.mkdtemp(prefix="pg"))
    home.chmod(0o755)
    made = Server(home, "" if fsync else "-F")
    try:
        made.create()
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(home)


class Server:
    """A server in a folder, whose processes can be killed and started again."""

    def __init__(self, home, flags):
        self.home, self.data = home, home / "data"
        self.address = f"postgresql://postgres@/postgres?host={home}"
        self._flags = flags
        self._names = count(1)
        self._who = {}
        if os.geteuid() == 0:
            self._who = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(home, "postgres", "postgres")

    def create(self):
        """Make the server's files."""
        flags = ["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--no-locale"]
        self.run("initdb", "-D", self.data, *flags)

    def start(self):
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses='' -c max_connections=200 -k {self.home} {self._flags}"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.home / "log", "-o", options, "start")

    def stop(self, how="immediate"):
        """Stop it, and wait until it has."""
        self.run("pg_ctl", "-D", self.data, "-m", how, "stop")

    def reload(self):
        """Have it read its settings again."""
        self.run("pg_ctl", "-D", self.data, "reload")

    def kill(self):
        """Kill the server by SIGKILL, all of its processes, as a machine that crashes would."""
        head = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{head}/task/{head}/children").read_text().split()
        # The main process is stopped first, so that it starts no other meanwhile.
        for each, how in [(head, signal.SIGSTOP), *((int(c), signal.SIGKILL) for c in children)]:
            _signal(each, how)
        _signal(head, signal.SIGKILL)
        while any(_is_alive(int(each)) for each in [head, *children]):
            time.sleep(0.005)
        # If nobody reaps the dead process, its number would be taken for that of a live server.
        for file in (self.data / "postmaster.pid", self.home / ".s.PGSQL.5432.lock"):
            file.unlink()

    def restart_killed(self):
        """Kill the server, and start it again: it recovers from its log."""
        self.kill()
        self.start()

    def backup(self):
        """Return a server on a base backup as of now, which can take the place of this one."""
        other = copy(self)
        other.data = self.home / "backup"
        where = ["-h", self.home, "-U", "postgres", "-D", other.data]
        self.run("pg_basebackup", *where, "-X", "fetch", "-c", "fast", "--no-sync")
        return other

    def fresh(self):
        """Return the address of a new schema without tables."""
        import psycopg  # noqa: PLC0415 - not in every environment that runs a server

        name = f"fresh_{next(self._names)}"
        with psycopg.connect(self.address, autocommit=True) as db:
            db.execute(f"create schema {name}")
        return f"{self.address}&options=-csearch_path%3D{name}"

    def version(self):
        """Return what the server calls itself, such as "PostgreSQL 15.4"."""
        command = [binaries() / "postgres", "--version"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return " ".join(said.replace("(PostgreSQL)", "").split()[:2]).replace(
            "postgres", "PostgreSQL"
        )

    def run(self, *command):
        """Run one of the server's programs, as the user that owns its files."""
        subprocess.run(
            [binaries() / command[0], *command[1:]],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            **self._who,
        )


def _signal(process, how):
    with suppress(ProcessLookupError):
        os.kill(process, how)


def _is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
