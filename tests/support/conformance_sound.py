"""A fake framework that does everything right; the faults of `faults_of_adapters` change it."""

import attrs
from support.conformance_functions import MESSAGES, Functions


class Sound(Functions):
    """A framework of plain JSON that passes arguments on unchanged."""

    def __init__(self, setup):
        super().__init__(MESSAGES, setup)


class Resuming(Sound):
    """A sound framework that changes each session's record when it is restarted."""

    def resume(self, saved):
        super().resume(saved)
        for session in self.kept:
            record = self.load(session)
            self.save(session, self.resumed(record) or record)


def with_texts(answered, change):
    """Return answers whose texts are changed by a function."""
    replies = (attrs.evolve(each, text=change(each.text)) for each in answered.replies)
    return attrs.evolve(answered, replies=tuple(replies))


def with_arguments(turn, change, kind: type = dict):
    """Return a turn in which a function has changed the arguments of one type."""

    def one(call):
        is_meant = isinstance(call.arguments, kind)
        return attrs.evolve(call, arguments=change(call.arguments)) if is_meant else call

    return attrs.evolve(turn, calls=tuple(map(one, turn.calls)))


def singly(turn):
    """Return a turn for each call."""
    return [attrs.evolve(turn, calls=(call,)) for call in turn.calls] or [turn]
