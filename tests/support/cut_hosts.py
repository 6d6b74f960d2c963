"""
A PostgreSQL host and three worker hosts in network namespaces of their own, and links to cut.

Each host is a namespace. The links of the workers end at a bridge in the server's namespace. A link
is cut by switching off its port at the bridge: what is sent is lost, as with a pulled cable. It is
also possible to lose only the server's answers. `python -m support.cut_hosts ADDRESS NAME` is a
worker, which reads its orders line by line.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Thread

from support.postgres import Server, binaries
from support.processes import program

NETWORK = "10.213.77"
LEASE = 1.0
HOLD = "2s"
"""How long the server waits for a silent client that has locked a plan; by default a minute."""
GIVES_UP = 2.0
"""Seconds after which a client considers its connection lost; by default 30."""
PATIENCE = 60
_numbers = count(os.getpid())


def cannot():
    """Return why no hosts can be made on this machine, or ""."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need root and the command ip (Debian: iproute2)"
    if binaries() is None:
        return "no PostgreSQL binaries; install the package postgresql"
    probe = f"tp{next(_numbers)}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    if made.returncode:
        return f"no network namespace can be made here: {made.stderr.decode().strip()}"
    ip("netns", "del", probe)
    return ""


def ip(*line, inside=None):
    """Run one command of iproute2, in a namespace."""
    command = ["ip", *(["-n", inside] if inside else []), *line]
    subprocess.run(command, check=True, capture_output=True)


class Hosts:
    """The server, and the workers by number."""

    def __init__(self, server, space, workers):
        self.server, self.space, self.workers = server, space, workers

    def cut(self, number):
        """Cut the link of a worker."""
        ip("link", "set", f"port{number}", "down", inside=self.space)

    def heal(self, number):
        """Mend the link of a worker."""
        ip("link", "set", f"port{number}", "up", inside=self.space)

    def cut_answers(self, number):
        """Drop the server's answers to a worker."""
        ip("route", "add", "blackhole", f"{NETWORK}.{number + 1}/32", inside=self.space)

    def heal_answers(self, number):
        """Let the server's answers to a worker arrive again."""
        ip("route", "del", "blackhole", f"{NETWORK}.{number + 1}/32", inside=self.space)


class HostServer(Server):
    """A server in a namespace; from outside it is reached by its socket."""

    def __init__(self, home, space):
        super().__init__(home, "")
        self._space = space

    def start(self):
        """Start the server in the namespace."""
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK}.0/24 trust\n")
        options = f"-c listen_addresses='*' -k {self.home}"
        who = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        line = ["-D", self.data, "-w", "-l", self.home / "log", "-o", options, "start"]
        subprocess.run(
            ["ip", "netns", "exec", self._space, *who, binaries() / "pg_ctl", *line],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
        )


class Worker:
    """A process on a host of its own, which carries out orders."""

    def __init__(self, space, address, name):
        inside = ["ip", "netns", "exec", space]
        self.process = program("cut_hosts", address, name, inside=inside, stdin=subprocess.PIPE)
        self.answers = []
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.append(json.loads(line))

    def tell(self, *order):
        """Send an order, and do not wait for the answer."""
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def answer(self):
        """Wait for the next answer, and return it."""
        end = time.monotonic() + PATIENCE
        while not self.answers:
            assert time.monotonic() < end, "a worker said nothing"
            assert self.process.poll() is None, "a worker has failed"
            time.sleep(0.01)
        return self.answers.pop(0)

    def ask(self, *order):
        """Send an order, and return the answer."""
        self.tell(*order)
        return self.answer()

    def end(self):
        """Kill the process."""
        self.process.kill()
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextmanager
def hosts():
    """Yield a server's host and three of workers, all of them connected."""
    name = f"tp{next(_numbers)}"
    spaces = [f"{name}-{number}" for number in range(4)]
    home = Path(tempfile.mkdtemp(prefix="pg"))  # a folder that the server's user can reach
    home.chmod(0o755)
    made, server = [], HostServer(home, spaces[0])
    try:
        for number, space in enumerate(spaces):
            ip("netns", "add", space)
            ip("link", "set", "lo", "up", inside=space)
            if not number:
                ip("link", "add", "middle", "type", "bridge", "stp_state", "0", inside=space)
                ip("addr", "add", f"{NETWORK}.1/24", "dev", "middle", inside=space)
                ip("link", "set", "middle", "up", inside=space)
                continue
            port = f"port{number}"
            pair = ["type", "veth", "peer", "name", "cable", "netns", space]
            ip("link", "add", port, *pair, inside=spaces[0])
            ip("link", "set", port, "master", "middle", inside=spaces[0])
            ip("link", "set", port, "up", inside=spaces[0])
            ip("addr", "add", f"{NETWORK}.{number + 1}/24", "dev", "cable", inside=space)
            ip("link", "set", "cable", "up", inside=space)
        server.create()
        server.start()
        limits = f"tcp_user_timeout={GIVES_UP * 1000:.0f}&connect_timeout={GIVES_UP:.0f}"
        address = f"postgresql://postgres@{NETWORK}.1/postgres?{limits}"
        made = [Worker(space, address, f"w{place}") for place, space in enumerate(spaces[1:], 1)]
        assert [each.answer() for each in made] == ["ready"] * 3
        yield Hosts(server, spaces[0], dict(enumerate(made, 1)))
    finally:
        for each in made:
            each.end()
        if (server.data / "postmaster.pid").exists():
            server.stop()
        for space in spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)
        shutil.rmtree(home)


def held_and_cut_off(net, plan_id):
    """
    Cut off a host while its worker has a claim. The lease expires, another worker takes the task
    over, and the link is mended. Return the answer to the late report of the first worker, the
    answer to the report of the second, and whether the second fencing token is larger.
    """
    first, second = net.workers[1], net.workers[2]
    task_id, fence = first.ask("claim", plan_id)
    net.cut(1)
    first.tell("complete", plan_id, task_id, fence)
    got = second.ask("claim until", plan_id, task_id)
    net.heal(1)
    late = first.answer()
    if late in {"lost", "unreachable", "unknown"}:  # nobody knows by this, so it asks again
        late = first.ask("complete", plan_id, task_id, fence)
    return late, second.ask("complete", plan_id, *got), got[1] > fence


def commit_whose_answer_is_cut_off(net, plan_id, *, both_ways):
    """
    Cut off a host during a commit, before it is sent (`both_ways`) or before it is answered.
    Another host appends, the link is mended, and the first host repeats its append with the same
    key. Return the answers to the first append, to the other host's, and to the repeated one.
    """
    first, second = net.workers[1], net.workers[2]
    assert first.ask("hold", plan_id, "cut off") == "held"
    (net.cut if both_ways else net.cut_answers)(1)
    first.tell("go")
    other = second.ask("append", plan_id, "other")
    time.sleep(GIVES_UP + 0.5)  # until the client takes its connection for lost
    (net.heal if both_ways else net.heal_answers)(1)
    told = first.answer()
    again = first.ask("append", plan_id, "cut off")
    return told, other, again


def serve(address, name):
    """Carry out the orders on stdin, as a worker."""
    from support.postgres_writers import batch, commit  # noqa: PLC0415 - of a worker alone

    from todoplan import Plan, Planner  # noqa: PLC0415
    from todoplan.core.commands import ClaimTask, UpdateTask  # noqa: PLC0415
    from todoplan.errors import StoreError  # noqa: PLC0415
    from todoplan.planner.claiming.claims import claimed_by  # noqa: PLC0415
    from todoplan.stores.base import Key, follow  # noqa: PLC0415
    from todoplan.stores.postgres import PostgresStore  # noqa: PLC0415
    from todoplan.stores.postgres import store as writing  # noqa: PLC0415

    writing._LONGEST_HOLD = HOLD
    store, planners = PostgresStore(address, patience=30), {}
    assert store.load("nothing") == Plan()
    say("ready")
    for line in sys.stdin:
        what, plan_id, *given = json.loads(line)
        planner = planners.setdefault(plan_id, Planner(store, plan_id))
        try:
            if what == "claim":
                task, fence = claimed_by(planner.apply(ClaimTask(name, lease=LEASE), actor=name))
                say([task.id, fence])
            elif what == "claim until":
                command = ClaimTask(name, lease=PATIENCE, task_id=given[0])
                while type(done := planner.apply(command, actor=name)).__name__ == "Rejected":
                    time.sleep(0.02)
                task, fence = claimed_by(done)
                say([task.id, fence])
            elif what == "complete":
                late = UpdateTask(given[0], status="completed", fence=given[1])
                say(type(planner.apply(late, actor=name)).__name__)
            elif what == "append":
                commit(store, Plan(), given[0], plan_id)
                say("kept")
            else:
                with store.hold(plan_id) as held:
                    plan = follow(Plan(), held.entries_since(0))
                    held.append(plan.revision, *batch(plan, given[0]), key=Key(given[0]))
                    say("held")
                    sys.stdin.readline()
                say("kept")
        except StoreError as error:
            say(error.data["problem"])


def say(what):
    """Write an answer to stdout."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(*sys.argv[1:])
