"""Replaying many files one after the other, and what comes out of that as an exit code."""

from collections.abc import Callable, Iterable

import attrs

from todoplan.cli.inputs import Input
from todoplan.cli.replays import open_replay
from todoplan.cli.screen import Screen
from todoplan.core.rules.policy import Policy
from todoplan.errors import MissingExtraError, ReadError
from todoplan.transcripts.replaying import Replay

__all__ = ["Run", "Unread"]

_TOLD_BAD_LINES = 3


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
    What became of the files so far. Complaints go to the screen as they come up.
    """

    screen: Screen
    policy: Policy
    dialect: str | None = None
    unreadable: list[Unread] = attrs.Factory(list)
    skipped: list[Unread] = attrs.Factory(list)
    has_bad_lines: bool = False
    has_errors: bool = False

    def over(self, inputs: Iterable[Input], each: Callable[[Replay], None]) -> None:
        """
        Replay the files in order and hand each replay to `each`, which listens to it to its end.
        """
        found = tuple(inputs)
        sizes = [source.size for source in found]
        with self.screen.ticker(sum(sizes)) as ticker:
            reached = 0
            for source, size in zip(found, sizes, strict=True):
                replay = self._opened(source, ticker.add)
                if replay is not None:
                    each(replay)
                    self._note(replay)
                reached += size
                ticker.reach(reached)
        self._miss(found)

    def _opened(self, source: Input, on_bytes: Callable[[int], None]) -> Replay | None:
        try:
            return open_replay(source, self.policy, self.dialect, on_bytes)
        except MissingExtraError as error:
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
        self.has_errors |= replay.has_errors
        self.has_bad_lines |= replay.bad_lines > 0
        self._tell_bad_lines(replay)
        if replay.trouble:
            self.fail(replay.file, replay.trouble)

    def _tell_bad_lines(self, replay: Replay) -> None:
        bad = [finding for finding in replay.findings if finding.code == "bad_line"]
        for finding in bad[:_TOLD_BAD_LINES]:
            self.screen.complain(f"{replay.file}:{finding.line}: {finding.text}")
        more = replay.bad_lines - _TOLD_BAD_LINES
        if more > 0:
            self.screen.complain(f"{replay.file}: {more} more lines could not be read")

    def _miss(self, inputs: tuple[Input, ...]) -> None:
        if len(inputs) == len(self.skipped):
            what = "no file there is a recording" if inputs else "no *.jsonl, *.json or *.md file"
            self.fail("", f"nothing to read: {what}")

    @property
    def exit_code(self) -> int:
        """
        2 if something could not be read, else 1 if there are findings of severity error, else 0.
        """
        return 2 if self.unreadable or self.has_bad_lines else int(self.has_errors)
