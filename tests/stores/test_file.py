"""The store in a file: what is written is read again, by anybody, or refused loudly."""

import errno
import fcntl
import json
import os
import signal
import stat
import threading
from pathlib import Path

import pytest
from support import stored
from support.nobody import as_nobody, folder_for_all
from support.processes import started
from support.stored import refused

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError, StoreError
from todoplan.planner import Planner
from todoplan.stores import file as module
from todoplan.stores import locks
from todoplan.stores.file import FORMAT, FileStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plans.json"


def names_in(folder):
    return sorted(each.name for each in folder.iterdir())


def create(path, *titles, plan_id="a"):
    """Create tasks by a store of their own, and give the planner."""
    return stored.create(FileStore(path), *titles, plan_id=plan_id)


def test_a_file_says_which_plans_it_keeps(path, monkeypatch):
    """In the order in which they were first written; reading makes no file, an odd id no entry."""
    monkeypatch.chdir(path.parent)
    store = FileStore(path.name)
    monkeypatch.chdir("/")  # a relative path is that of when the store was made
    assert (store.load("a"), store.entries("a"), store.plan_ids()) == (Plan(), (), ())
    assert names_in(path.parent) == []
    for plan_id in ("b", "a", "b"):
        Planner(store, plan_id).apply(CreateTask("Dig"))
    planner, before = Planner(store, "a"), path.read_bytes()
    with pytest.raises(PlanError, match="not 7: pass str"):
        store.append(7, 0, planner.history(), planner.plan)
    assert (FileStore(path).plan_ids(), path.read_bytes()) == (("b", "a"), before)
    for wrong in ("a\0b", 7, None):
        with pytest.raises(StoreError, match="is no path; give the name of a file"):
            FileStore(wrong)


def test_a_reader_that_comes_late_undoes_nothing(path):
    """A thread that goes on remembering an older file does not bring it back by the next append."""

    class Beaten(FileStore):
        def _plans(self):
            found = super()._plans()
            self._read = older
            return found

    store = Beaten(path)
    older = store._read
    for plan_id in ("a", "b", "c"):
        Planner(store, plan_id).apply(CreateTask("Dig"))
    assert FileStore(path).plan_ids() == ("a", "b", "c")


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o600, None])
def test_permissions_are_kept(path, mode):
    """Who may read or write a file may go on to, and lock it; a new one is its owner's alone."""
    if mode is not None:
        path.write_text(document(plans={}))
        path.chmod(mode)
    create(path, "Dig")
    lock, is_root = path.with_name("plans.json.lock"), os.geteuid() == 0
    if is_root:  # who alone gives files away; where it writes, the file's owner can go on
        os.chown(path, 4321, 4322)
    create(path, "Plant")
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, lock)] == [mode or 0o600] * 2
    assert not is_root or (path.stat().st_uid, path.stat().st_gid) == (4321, 4322)


def test_a_group_that_cannot_be_kept_gets_no_other_s_rights(path, monkeypatch):
    """Where the file's group is none of ours, our own group does not come in its place."""
    create(path, "Dig")
    path.chmod(0o664)
    real = os.lstat

    def of_others(name):
        found = [*real(name)]
        found[5] += 1
        return os.stat_result(found)

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(locks.os, "lstat", of_others)
    monkeypatch.setattr(locks.os, "fchown", refused)
    monkeypatch.setattr(locks.os, "geteuid", lambda: 1000)
    locks.write_anew(path, path.read_bytes(), is_first=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_what_an_interrupted_write_left_is_in_nobody_s_way(path):
    """A half-written new file is not read, and removed when it is old; a stranger's file is not."""
    create(path, "Dig")
    stale, fresh = (path.with_name(f"plans.json.{name * 16}.new") for name in "ab")
    own = path.with_name("plans.json.new")
    for each in (stale, fresh, own):
        each.write_text('{"format":')
    os.utime(stale, (1, 1))
    assert len(FileStore(path).load("a")) == 1
    assert len(create(path, "Plant").plan) == 2
    assert names_in(path.parent) == ["plans.json", fresh.name, "plans.json.lock", "plans.json.new"]


def _entry(**changes):
    task = {"id": "1", "subject": "a", "status": "pending"}
    entry = {"revision": 1, "events": [{"type": "task_created", "task": task}]}
    return {**entry, **changes}


def document(*entries, **changes):
    head = {"format": FORMAT, "version": 1, "plans": {"a": list(entries)}}
    return json.dumps({**head, **changes})


CORRUPT = {
    "": "truncated",
    "null": "no todoplan/plans document",
    "[]": "no todoplan/plans document",
    "{}": "format: null is not",
    '{"format":"todoplan/plan","version":1}': "format:",
    document(version=3): "newer todoplan: version 3",
    document(version="1"): "no version",
    document(plans=None): "plans: no object with a list for each plan",
    document(plans={"a": {}}): "plans: no object with a list for each plan",
    document(_entry())[:-9]: "truncated",
    document(_entry(check="crc32:00000000")): "damaged",
    document(_entry()) + "x": "not JSON",
    document(
        _entry(revision=7)
    ): r"plans\.a\[0\]\.revision: 7, but the events up to here lead to 1",
    document(_entry(), _entry()): r"plans\.a\[1\]\.revision: 1, but",
    document(_entry(events=[{"type": "levitated"}])): r"plans\.a\[0\]: .*levitated",
    document(_entry(events="none")): "events",
    document("entry"): "no object",
    b"\xff\xfe{": "not UTF-8",
}


@pytest.mark.parametrize(("text", "reason"), CORRUPT.items())
def test_a_corrupt_file_is_an_error_and_never_an_empty_plan(path, text, reason):
    """It is told with its name and what to do, on reading and appending, and is left as it is."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = path.read_bytes()
    store = FileStore(path)
    for use in (store.load, store.entries, lambda plan_id: store.append(plan_id, 0, (), Plan())):
        with pytest.raises(CodecError, match=reason) as caught:
            use("a")
        assert str(path) in str(caught.value)
        assert "repair it or move it away" in str(caught.value)
        assert caught.value.data["file"] == str(path)
    assert path.read_bytes() == before


def descriptors():
    """Return how many descriptors this process has open."""
    return len([*Path("/dev/fd").iterdir()])


def test_what_is_too_large_is_not_written(path, monkeypatch):
    """What could not be read again, and more than a plan's share; a warning comes long before."""
    planner = create(path, "Dig")
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module, "LIMIT", len(before) + 9)
        told = r"cannot be written: it would have \d+ bytes"
        refused("too_large", lambda: planner.apply(CreateTask("Plant")), told)
        patch.setattr(module, "LIMIT", len(before) - 1)
        with pytest.raises(CodecError, match=r"the limit is \d+"):
            FileStore(path).load("a")
        patch.undo()
        patch.setattr(module, "SHARE", 400)
        told = "the journal of the plan 'a' would have"
        with pytest.raises(StoreError, match=told) as caught:
            create(path, "x" * 400)
    assert (caught.value.data["problem"], caught.value.data["plan_id"]) == ("too_large", "a")
    assert path.read_bytes() == before
    monkeypatch.setattr(module, "_WARNED_AT", 400)
    other = create(path, plan_id="b")
    with pytest.warns(UserWarning, match=r"plans\.json has 0 of at most 64 MiB"):
        other.apply(CreateTask("Cook"))
    other.apply(CreateTask("Wash"))  # a second warning would be an error
    assert FileStore(path).plan_ids() == ("a", "b")


@pytest.mark.parametrize("dangling", [False, True])
def test_a_symbolic_link_is_not_followed(path, dangling):
    """Neither that of a file nor that of a lock: where it points to, all stays as it is."""
    target, other = path.with_name("elsewhere.json"), path.with_name("new.json")
    if not dangling:
        create(target, "Dig")
    before = target.read_bytes() if target.exists() else None
    path.symlink_to(target)
    other.with_name("new.json.lock").symlink_to(path.with_name("nowhere"))
    for use in (
        lambda: FileStore(path).load("a"),
        lambda: create(path, "Plant"),
        lambda: create(other, "Dig"),
    ):
        refused("cannot_open", use, "symbolic link")
    assert (target.read_bytes() if target.exists() else None) == before
    assert not other.exists()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkdir, "Is a directory"),
        (os.mkfifo, "it is no plain file"),
        (lambda path: path.parent.rmdir(), "No such file or directory"),
    ],
)
def test_what_is_no_plain_file_is_refused(tmp_path, make, reason):
    """Told at once, on reading, before work is lost; nobody waits for a pipe's other end."""
    path = tmp_path / "folder" / "plans.json"
    path.parent.mkdir()
    make(path)
    before = descriptors()
    for use in (lambda: FileStore(path).load("a"), lambda: create(path, "Dig")):
        refused("cannot_open", use, f"cannot be (read|written): {reason}")
    assert descriptors() == before


FAULTS = [(fcntl, "flock"), (locks, "is_at"), (locks.os, "fchmod"), (fcntl, "unlock")]


@pytest.mark.parametrize("raised", [OSError(errno.ENOLCK, "No locks available"), SystemExit()])
@pytest.mark.parametrize(("where", "name"), FAULTS)
def test_a_lock_that_fails_leaves_no_descriptor_open(path, monkeypatch, where, name, raised):
    """Whatever comes between opening a file and letting go of its lock, an interrupt as well."""
    real = fcntl.flock

    def refused(*given):
        if name == "unlock" and given[1] != fcntl.LOCK_UN:
            return real(*given)
        raise raised

    path.write_text(document(plans={}))
    before = descriptors()
    with monkeypatch.context() as patch:
        patch.setattr(where, "flock" if name == "unlock" else name, refused)
        with pytest.raises((StoreError, SystemExit), match=r"No locks available|^$"):
            create(path, "Dig")
    assert descriptors() == before
    assert len(create(path, "Plant").plan) == 1 + (name == "unlock")


@pytest.mark.parametrize("what", ["deleted", "older", "went on"])
def test_a_file_that_went_back_under_a_handle_is_an_error(path, what):
    """Work that was seen is gone: it is told, nothing is begun anew; a new handle may do so."""
    planner = create(path, "Dig")
    older = path.read_bytes()
    planner.apply(CreateTask("Plant"))
    newer = path.read_bytes()
    path.unlink()
    if what != "deleted":
        path.write_bytes(older)
    if what == "went on":
        create(path, "Something else", "and more")
    before = names_in(path.parent)
    for use in (lambda: planner.plan, lambda: planner.apply(CreateTask("Water"))):
        if what == "deleted":
            refused("deleted", use, "it is not there any more")
        else:
            refused("rolled_back", use, "revision 2 of the plan 'a' is not in it")
    assert names_in(path.parent) == before
    assert len(create(path, "Fill").plan) == {"deleted": 1, "older": 2, "went on": 4}[what]
    path.write_bytes(newer)
    planner.apply(CreateTask("Water"))
    assert len(FileStore(path).load("a")) == 3


@pytest.mark.parametrize(("number", "is_told"), [(5, True), (22, False)])
def test_a_folder_that_cannot_be_synced_is_told_for_what_it_is(path, monkeypatch, number, is_told):
    """The entry is there: the error says so. A file system without such a thing is no error."""
    planner, told, real = create(path, "Dig"), [], os.fsync
    planner.subscribe(lambda entry, plan: told.append(entry.revision))

    def failing(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(locks.os, "fsync", failing)
    if is_told:
        plant = lambda: planner.apply(CreateTask("Plant"))  # noqa: E731 - a name for one line
        refused("unsynced", plant, "may be lost in a power failure.*has been")
    else:
        planner.apply(CreateTask("Plant"))
    assert told == [2]
    assert len(planner.plan) == len(FileStore(path).load("a")) == 2


@pytest.mark.parametrize("number", [1, 28])
def test_a_file_system_without_links_is_served_too(path, monkeypatch, number):
    """The first file is put in place as the later ones are; a full disk is an error as ever."""

    def no_links(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.os, "link", no_links)
    if number == 1:
        assert len(create(path, "Dig", "Plant").plan) == 2
    else:
        refused("disk_full", lambda: create(path, "Dig"), "No space left")
        assert names_in(path.parent) == ["plans.json.lock"]


class Paused:
    """An append in another thread, stopped after it has read the file and before it writes."""

    def __init__(self, path, title, monkeypatch):
        self.at, self.go_on = threading.Event(), threading.Event()
        store = FileStore(path)
        document = store._document

        def waiting(*given):
            self.at.set()
            assert self.go_on.wait(60)
            return document(*given)

        monkeypatch.setattr(store, "_document", waiting)
        planner = Planner(store, title)
        self.thread = threading.Thread(target=planner.apply, args=(CreateTask(title),))
        self.thread.start()
        assert self.at.wait(60)

    def end(self):
        self.go_on.set()
        self.thread.join(60)


@pytest.mark.parametrize("exists", [False, True])
def test_a_lock_file_that_is_deleted_loses_nothing(path, monkeypatch, exists):
    """Who comes then makes a lock of its own, and still does not write over who was at work."""
    if exists:
        create(path, "Dig", plan_id="first")
    paused = Paused(path, "one", monkeypatch)
    path.with_name("plans.json.lock").unlink()
    if exists:  # the file itself is locked too
        late = Planner(FileStore(path, patience=0.02), "late")
        refused("busy", lambda: late.apply(CreateTask("Fill")), r"plans\.json is busy")
    other = threading.Thread(target=create, args=(path, "two"), kwargs={"plan_id": "two"})
    other.start()
    if not exists:
        other.join(60)
    paused.end()
    other.join(60)
    assert {*FileStore(path).plan_ids()} == {"one", "two"} | ({"first"} if exists else set())


def test_a_lock_file_that_was_replaced_while_one_waited_is_seen(path, monkeypatch):
    """Whoever waited for the old lock takes the new one, which others take as well."""
    looked, real = [], locks.is_at

    def once_another(where, descriptor):
        looked.append(Path(where).name)
        if len(looked) == 1:
            Path(where).unlink()
        return real(where, descriptor)

    create(path, "Dig", plan_id="first")
    monkeypatch.setattr(locks, "is_at", once_another)
    create(path, "Plant", plan_id="second")
    assert looked == ["plans.json.lock", "plans.json.lock", "plans.json"]
    assert FileStore(path).plan_ids() == ("first", "second")


def test_a_holder_that_does_not_let_go_is_a_busy_store(path, monkeypatch):
    """After the given patience, and nothing was written; reading is free; later it goes on."""
    create(path, "Dig", plan_id="first")
    paused = Paused(path, "one", monkeypatch)
    late = Planner(FileStore(path, patience=0.05), "two")
    told = r"is busy: .* for 0\.05 seconds, nothing was"
    refused("busy", lambda: late.apply(CreateTask("Plant")), told)
    assert FileStore(path).plan_ids() == ("first",)
    paused.end()
    late.apply(CreateTask("Plant"))
    assert FileStore(path).plan_ids() == ("first", "one", "two")


def test_who_has_waited_long_asks_more_often(path, monkeypatch):
    """A crowd of writers is served in rough order: pauses get shorter, down to a millisecond."""
    now, pauses = [0.0], []

    def sleep(pause):
        pauses.append(pause)
        now[0] += pause

    create(path, "Dig", plan_id="first")
    paused = Paused(path, "one", monkeypatch)
    monkeypatch.setattr(locks, "uniform", lambda *_: 1.0)
    monkeypatch.setattr(locks.time, "sleep", sleep)
    monkeypatch.setattr(locks.time, "monotonic", lambda: now[0])
    refused("busy", lambda: create(path, "Plant"), "is busy")
    monkeypatch.undo()
    paused.end()
    assert pauses[0] == 0.008
    assert pauses[:-1] == sorted(pauses[:-1], reverse=True)
    assert pauses[-2] == 0.001
    assert abs(sum(pauses) - 10) < 0.001


FORKS = """
import os, sys, time
from todoplan import Planner, commands
from todoplan.stores.file import FileStore
real, child = os.fsync, []
def fork(descriptor):
    if not child:
        child.append(os.fork())
        if not child[0]:
            time.sleep(300)
            os._exit(0)
    real(descriptor)
os.fsync = fork
Planner(FileStore(sys.argv[1]), "a").apply(commands.CreateTask("Dig"))
print(child[0], flush=True)
time.sleep(300)
"""


def test_a_child_that_was_forked_meanwhile_holds_no_lock(path):
    """It has a copy of the lock's descriptor for as long as it lives; the lock was let go of."""
    with started(FORKS, path) as parent:
        try:
            child = int(parent.stdout.readline())
            create(path, "Plant", plan_id="b")
        finally:
            os.kill(child, signal.SIGKILL)
            parent.kill()
    assert FileStore(path).plan_ids() == ("a", "b")


def test_a_folder_that_may_not_be_written_is_read_only():
    """Plans are read, and an append says what is missing; a file of others is not opened."""
    with folder_for_all() as folder:
        path = folder / "plans.json"
        create(path, "Dig")
        path.chmod(0o644)
        with as_nobody():
            assert len(FileStore(path).load("a")) == 1
            refused("read_only", lambda: create(path, "Lay"))
            refused("read_only", lambda: create(path.with_name("new.json"), "x"))
        path.chmod(0o600)
        with as_nobody():
            refused("cannot_open", lambda: FileStore(path).load("a"))


CODES = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EROFS: "read_only",
    errno.EIO: "io_error",
    errno.EFBIG: "too_large",
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("function", ["fsync", "fchmod"])
def test_a_disk_that_fails_leaves_the_plans(path, monkeypatch, function, code):
    """Full, over its quota, read-only or failing: what was there is there, also in memory."""
    planner = create(path, "Dig")
    before, plan = path.read_bytes(), planner.plan

    def failing(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, function, failing)
        refused(CODES[code], lambda: planner.apply(CreateTask("Lay")))
    assert (path.read_bytes(), planner.plan) == (before, plan)
    assert names_in(path.parent) == ["plans.json", "plans.json.lock"]
    assert len(create(path, "Lay").plan) == 2
