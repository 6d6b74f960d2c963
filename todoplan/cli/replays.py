"""The recordings that the command line replays: which files it takes, and what it says of each."""

from collections.abc import Callable

from todoplan.cli.counting import plural
from todoplan.cli.inputs import Input
from todoplan.core.rules.policy import Policy
from todoplan.errors import ReadError
from todoplan.render.cleaning import clip, one_line
from todoplan.transcripts.replaying import Replay, replay_file

__all__ = ["caveat", "headline", "open_replay"]

_NAME = 40


def open_replay(
    source: Input, policy: Policy, dialect: str | None, on_bytes: Callable[[int], None]
) -> Replay:
    """
    Return the replay of a file, not yet begun; its dialect is detected unless given.

    Raises:
        ReadError: this is no recording. A file that was not named must also make some sense.
        MissingExtraError: it is one JSON document, and ijson is not installed.
    """
    path = source.path
    if path.exists() and not path.is_file():
        msg = f"{path} is no regular file, and a recording is read twice; save it first"
        raise ReadError(msg, file=str(path))
    replay = replay_file(path, policy=policy, dialect=dialect, on_bytes=on_bytes)
    replay.file = source.label
    if not source.named and replay.is_senseless():
        msg = f"{path} holds no planning call, and lines that cannot be read"
        raise ReadError(msg, file=str(path))
    return replay


def headline(replay: Replay) -> str:
    """
    Return the recording in a line: "claude-code, 9 planning calls (1 refused), 2 plans".
    """
    aside = f" ({replay.refused} refused)" if replay.refused else ""
    calls, plans = plural(replay.calls, "planning call"), plural(len(replay.lanes), "plan")
    return f"{replay.dialect}, {calls}{aside}, {plans}"


def caveat(replay: Replay) -> str:
    """
    Return which tools were called where none was a known planning tool, cleaned; else "".
    """
    names = (clip(one_line(name), _NAME) for name in replay.other_tools)
    told = ", ".join(filter(None, names))
    return f"No call of a known planning tool; the first tools called are {told}" if told else ""
