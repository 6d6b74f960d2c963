"""Which files are recordings to replay, replaying them one after the other, and what went wrong."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

import attrs

from todoplan.cli.exit_codes import UNREADABLE
from todoplan.cli.output.screen import Screen
from todoplan.core.rules.policy import Policy
from todoplan.errors import MissingExtraError, ReadError
from todoplan.transcripts.files.unpacking import is_recording_name
from todoplan.transcripts.replay.recording import Replay, replay_file
from todoplan.transcripts.replay.together import replay_together

__all__ = ["Input", "Run", "Unread", "expand", "open_replay", "sample"]

_REPORTED_BAD_LINES = 3
# Megabytes of JSON and Markdown that are no recordings, and sometimes examples of some.
_NOT_WALKED = frozenset(
    {".git", ".hg", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "site-packages", "venv"}
)


@attrs.frozen
class Input:
    """
    One file to read. `label` is how it is shown; `named` is false if only its directory was named.
    """

    path: Path
    label: str
    named: bool = True

    @property
    def size(self) -> int:
        """
        The file's size in bytes, 0 if it cannot be told.
        """
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def expand(paths: Iterable[Path]) -> Iterator[Input]:
    """
    Give the files to read; a directory stands for what may be recordings below it.
    """
    for path in paths:
        if path.is_dir():
            yield from (Input(found, str(found), named=False) for found in _below(path))
        else:
            yield Input(path, str(path))


def _below(directory: Path) -> Iterator[Path]:
    # Links to directories are not followed: they may form a loop.
    for folder, folders, names in os.walk(directory):
        # In place: os.walk goes on with these, in this order, so output is the same each time.
        folders[:] = sorted(name for name in folders if _is_walked(Path(folder, name)))
        for path in (Path(folder, name) for name in sorted(names)):
            if is_recording_name(path.name) and path.is_file():
                yield path


def _is_walked(directory: Path) -> bool:
    # A virtual environment may have any name; this file makes it one.
    return directory.name not in _NOT_WALKED and not (directory / "pyvenv.cfg").exists()


@contextmanager
def sample() -> Iterator[Input]:
    """
    Give the recording that comes with the package.
    """
    with as_file(files("todoplan.transcripts").joinpath("sample.jsonl")) as path:
        yield Input(path, "sample.jsonl")


def open_replay(
    source: Input, policy: Policy, dialect: str | None, on_bytes: Callable[[int], None]
) -> Replay:
    """
    Return the replay of a file, not yet begun; its dialect is detected unless given.

    Raises:
        ReadError: this is no recording. A file that was not named must also make some sense.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    # A pipe would be read twice, once to tell the dialect, and might never end.
    path = source.path
    if path.exists() and not path.is_file():
        msg = f"{path} is not a regular file. A recording is read twice: save it to a file first"
        raise ReadError(msg, file=str(path))
    replay = replay_file(path, policy=policy, dialect=dialect, on_bytes=on_bytes)
    replay.file = source.label
    if not source.named and replay.is_unreadable():
        msg = f"{path} has no planning call, only lines that cannot be read"
        raise ReadError(msg, file=str(path))
    return replay


# Words that a planning tool's name has in every system met so far.
_PLANNING = re.compile(r"todo|task|plan|checklist", re.IGNORECASE)


def _not_understood(replay: Replay) -> str:
    """
    Return why a recording that was read told nothing of its plan, "" if it did.

    Silence would be taken for "no findings". An agent that planned nothing is no fault, as long as
    no tool sounds like planning.
    """
    if replay.calls and replay.unreadable == replay.calls:
        return f"not one of its {replay.calls} planning calls could be understood"
    alike = [tool for tool in replay.other_tools if _PLANNING.search(tool)]
    if alike:
        return f"nothing understood: no planning tool known here is called, but {', '.join(alike)}"
    return ""


@attrs.frozen
class Unread:
    """
    A file that could not be read, or not to its end, and why.
    """

    file: str
    reason: str


@attrs.define(eq=False)
class Run:
    """
    What became of the files so far. What is wrong goes to the screen as it comes up.
    """

    screen: Screen
    policy: Policy
    dialect: str | None = None
    unreadable: list[Unread] = attrs.Factory(list)
    skipped: list[Unread] = attrs.Factory(list)
    has_bad_lines: bool = False
    has_errors: bool = False

    def replay_all(self, inputs: Iterable[Input], each: Callable[[Replay], None]) -> None:
        """
        Replay the files in order and hand each replay to `each`, which consumes it.
        """
        # All names first: the bar needs the sum of their sizes.
        found = tuple(inputs)
        sizes = [source.size for source in found]
        with self.screen.ticker(sum(sizes)) as ticker:
            reached = 0
            for source, size in zip(found, sizes, strict=True):
                replay = self._opened(source, ticker.add)
                if replay is not None:
                    each(replay)
                    self._note(replay)
                # A file that was given up early counts as read, or the bar would never be full.
                reached += size
                ticker.reach(reached)
        if len(found) == len(self.skipped):
            what = "no file there is a recording" if found else "no file that may be one"
            self.fail("", f"nothing to read: {what}")

    def replay_together(self, inputs: Iterable[Input], each: Callable[[Replay], None]) -> None:
        """
        Replay those files that are recordings as one, and hand that replay to `each`.
        """
        # Each is opened for itself first, so that what is none is skipped or told as ever.
        found = [one for one in inputs if self._opened(one, lambda _: None) is not None]
        if not found:
            self.fail("", "nothing to read: no file there is a recording")
            return
        label = ", ".join(source.label for source in found)
        paths = [source.path for source in found]
        replay = replay_together(label, paths, policy=self.policy, dialect=self.dialect)
        each(replay)
        self._note(replay)

    def _opened(self, source: Input, on_bytes: Callable[[int], None]) -> Replay | None:
        try:
            return open_replay(source, self.policy, self.dialect, on_bytes)
        except MissingExtraError as error:
            # Never "skipped": the file may well be a recording.
            self.fail(source.label, f"{source.label}: {error}")
        except ReadError as error:
            if source.named:
                self.fail(source.label, str(error))
            else:
                self.skipped.append(Unread(source.label, str(error)))
        return None

    def fail(self, file: str, reason: str) -> None:
        """
        Take note that a file could not be read, and say so.
        """
        self.unreadable.append(Unread(file, reason))
        self.screen.complain(reason)

    def _note(self, replay: Replay) -> None:
        if reason := _not_understood(replay):
            self.fail(replay.file, f"{replay.file}: {reason}")
        self.has_errors |= replay.has_errors
        self.has_bad_lines |= replay.bad_lines > 0
        bad = [finding for finding in replay.findings if finding.code == "bad_line"]
        for finding in bad[:_REPORTED_BAD_LINES]:
            self.screen.complain(f"{replay.file}:{finding.line}: {finding.text}")
        if (more := replay.bad_lines - _REPORTED_BAD_LINES) > 0:
            self.screen.complain(f"{replay.file}: {more} more lines could not be read")
        if replay.trouble:
            self.fail(replay.file, replay.trouble)

    @property
    def exit_code(self) -> int:
        """
        2 if something could not be read, else 1 if there are findings of severity error, else 0.
        """
        return UNREADABLE if self.unreadable or self.has_bad_lines else int(self.has_errors)
