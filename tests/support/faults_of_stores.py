"""Stores that each do one thing wrongly, one after the other; see faults_of_stores_at_once."""

import unicodedata
from pathlib import PurePosixPath

import attrs
from support.faults import caught_by, edited
from support.stores_sound import Sound

from todoplan.codec import entry_to_data
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import replay
from todoplan.core.plan.model import EMPTY
from todoplan.core.plan.plan import Plan


@caught_by("a_plan_never_written_is_empty")
class KnowsNoOtherPlan(Sound):
    def load(self, plan_id):
        if not self.kept.entries(plan_id):
            raise KeyError(plan_id)
        return super().load(plan_id)


@caught_by("a_plan_never_written_is_empty")
class SaysNoneForNoPlan(Sound):
    def load(self, plan_id):
        return super().load(plan_id) if self.kept.entries(plan_id) else None


@caught_by("a_plan_never_written_is_empty")
class MakesAPlanByLooking(Sound):
    def entries(self, plan_id):
        found = super().entries(plan_id)
        self.kept.append(plan_id, 0, (), attrs.evolve(Plan(), revision=1))
        return found


@caught_by("what_is_appended_is_kept")
class SaysNothingOfSuccess(Sound):
    def append(self, *given):
        super().append(*given)


@caught_by("what_is_appended_is_kept")
class KeepsTheLastEntry(Sound):
    def append(self, plan_id, expected, entries, plan):
        return super().append(plan_id, expected, entries[-1:], plan)


@caught_by("what_is_appended_is_kept")
class GivesNewestFirst(Sound):
    def entries(self, plan_id):
        return super().entries(plan_id)[::-1]


@caught_by("what_is_appended_is_kept")
class GivesAList(Sound):
    def entries(self, plan_id):
        return list(super().entries(plan_id))


@caught_by("what_is_appended_is_kept")
class ForgetsWhatWasUndone(Sound):
    def append(self, plan_id, expected, entries, plan):
        bare = [attrs.evolve(entry, undoes=None) for entry in entries]
        return super().append(plan_id, expected, bare, plan)


@caught_by("what_is_appended_is_kept")
class DropsTheZone(Sound):
    def entries(self, plan_id):
        found = super().entries(plan_id)
        return tuple(attrs.evolve(e, at=e.at and e.at.replace(tzinfo=None)) for e in found)


@caught_by("what_is_appended_is_kept")
class CountsEntriesForRevisions(Sound):
    def append(self, plan_id, expected, entries, plan):
        if len(self.kept.entries(plan_id)) != expected:
            return False
        return self.force(plan_id, entries, plan)


@caught_by("what_is_appended_is_kept")
class CountsIdsAnew(Sound):
    def load(self, plan_id):
        plan = super().load(plan_id)
        return plan_of(tuple(plan), revision=plan.revision)


@caught_by("what_is_appended_is_kept")
class SavesNothing(Sound):
    def again(self):
        return type(self)()


@caught_by("every_text_is_kept")
class KeepsUtf8(Sound):
    def load(self, plan_id):
        return edited(super().load(plan_id), self.encoded)

    def encoded(self, task):
        text = task.subject.encode("utf-8", "replace").decode()
        return attrs.evolve(task, subject=text)


@caught_by("every_text_is_kept")
class CutsAtNul(KeepsUtf8):
    def encoded(self, task):
        return attrs.evolve(task, subject=task.subject.partition("a\0b")[0] or "a")


@caught_by("every_text_is_kept")
class CutsLongTexts(KeepsUtf8):
    def encoded(self, task):
        return attrs.evolve(task, subject=task.subject[:4_000])


@caught_by("every_text_is_kept")
class MakesOneBreakOfAll(KeepsUtf8):
    def encoded(self, task):
        return attrs.evolve(task, subject=task.subject.replace("\r\n", "\n"))


@caught_by("handles_see_what_others_wrote")
class RemembersWhatItRead(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.seen = {}

    def load(self, plan_id):
        return self.seen.setdefault(plan_id, super().load(plan_id))

    def append(self, plan_id, expected, entries, plan):
        self.seen.pop(plan_id, None)
        return super().append(plan_id, expected, entries, plan)


@caught_by("what_was_read_does_not_change")
class KeepsTheGivenList(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.given = {}

    def again(self):
        return self

    def entries(self, plan_id):
        return tuple(entry for given in self.given.get(plan_id, ()) for entry in given)

    def append(self, plan_id, expected, entries, plan):
        done = super().append(plan_id, expected, entries, plan)
        if done:
            self.given.setdefault(plan_id, []).append(entries)
        return done


@caught_by("what_was_read_does_not_change")
class ChangesThePlanInPlace(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.mine = {}

    def load(self, plan_id):
        mine = self.mine.setdefault(plan_id, attrs.evolve(Plan()))
        for field in attrs.fields(Plan):
            object.__setattr__(mine, field.name, getattr(super().load(plan_id), field.name))
        return mine

    def append(self, plan_id, expected, entries, plan):
        done = super().append(plan_id, expected, entries, plan)
        self.load(plan_id)
        return done


@caught_by("an_append_to_an_older_revision_is_refused")
class LooksForTheKeyOnly(Sound):
    def append(self, plan_id, expected, entries, plan):
        taken = {entry.revision for entry in self.kept.entries(plan_id)}
        if expected > self.revision(plan_id) or taken & {entry.revision for entry in entries}:
            return False
        return self.force(plan_id, entries, plan)


@caught_by("an_append_to_an_older_revision_is_refused")
class RaisesInstead(Sound):
    def append(self, plan_id, expected, entries, plan):
        if not super().append(plan_id, expected, entries, plan):
            msg = "duplicate key"
            raise ValueError(msg)
        return True


@caught_by("an_append_to_an_older_revision_is_refused")
class WritesAndSaysNo(Sound):
    def append(self, plan_id, expected, entries, plan):
        at_hand = self.revision(plan_id) == expected
        self.kept.append(plan_id, self.revision(plan_id), entries if at_hand else (), plan)
        return at_hand


@caught_by("an_append_to_a_newer_revision_is_refused")
class TakesWhatIsAhead(Sound):
    def append(self, plan_id, expected, entries, plan):
        if 0 < self.revision(plan_id) < expected:
            return self.force(plan_id, entries, plan)
        return super().append(plan_id, expected, entries, plan)


@caught_by("a_plan_never_written_is_at_revision_zero")
class TakesAnyFirst(Sound):
    def append(self, plan_id, expected, entries, plan):
        if not self.revision(plan_id):
            return self.force(plan_id, entries, plan)
        return super().append(plan_id, expected, entries, plan)


@caught_by("an_append_that_fails_leaves_nothing")
class WritesOneByOne(Sound):
    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) != expected:
            return False
        for entry in entries:
            entry_to_data(entry)
            self.force(plan_id, (entry,), replay(self.kept.load(plan_id), entry.events))
        return True


@caught_by("an_append_that_fails_leaves_nothing")
class DropsWhatItCannotKeep(KeepsUtf8):
    def encoded(self, task):
        held = "holes" not in task.metadata
        return attrs.evolve(task, metadata=task.metadata if held else EMPTY)


@caught_by("plans_are_apart")
class KeepsOnePlan(Sound):
    def load(self, _):
        return super().load("one")

    def entries(self, _):
        return super().entries("one")

    def append(self, _, expected, entries, plan):
        return super().append("one", expected, entries, plan)


class Renaming(Sound):
    """
    Keeps a plan by what it makes of its id.
    """

    def name(self, plan_id):
        return plan_id

    def load(self, plan_id):
        return super().load(self.name(plan_id))

    def entries(self, plan_id):
        return super().entries(self.name(plan_id))

    def append(self, plan_id, expected, entries, plan):
        return super().append(self.name(plan_id), expected, entries, plan)


def _renaming(name, function):
    made = type(name, (Renaming,), {"name": lambda _, plan_id: function(plan_id)})
    return caught_by("odd_ids_are_apart")(made)


FoldsCase = _renaming("FoldsCase", str.casefold)
StripsIds = _renaming("StripsIds", str.strip)
StripsTheEnd = _renaming("StripsTheEnd", str.rstrip)
TakesTheFileName = _renaming("TakesTheFileName", lambda one: PurePosixPath(one).name)
ReplacesSlashes = _renaming("ReplacesSlashes", lambda one: one.replace("/", "_"))
Normalises = _renaming("Normalises", lambda one: unicodedata.normalize("NFC", one))
CutsIds = _renaming("CutsIds", lambda one: one[:64])
ReadsNumbers = _renaming("ReadsNumbers", lambda one: one.lstrip("0") if one.isdigit() else one)
TakesAscii = _renaming("TakesAscii", lambda one: one.encode("ascii", "replace").decode())
TakesLikeForEqual = _renaming("TakesLikeForEqual", lambda one: one.replace("%", "_"))
