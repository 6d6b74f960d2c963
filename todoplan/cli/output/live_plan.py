"""
A plan on a terminal that is drawn anew as it changes: the tasks that matter now, the last changes.

What somebody watches is what moves. So where a plan is higher than the terminal, closed tasks are
left out first and those in progress last, and a line says how many of which are not shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from todoplan.cli.output.text import COLOURS, hanging, wrapped
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, aside, lines, summary

__all__ = ["Change", "LivePlan"]

_INDENT = 2
_LEAST = 20  # columns for a task's text, however deep it lies
_LEAST_ROWS = 3  # of tasks, however low the terminal is


@attrs.frozen
class Change:
    """
    An accepted change in few words, cleaned: when, by whom, what it did.
    """

    at: str
    actor: str
    phrases: tuple[str, ...]


class LivePlan:
    """
    What is drawn: rich asks for it anew when the terminal has another size.
    """

    def __init__(self, title: str, plan: Plan, changes: Sequence[Change] = ()) -> None:
        self._title, self._plan, self._changes = title, plan, changes
        # Worked out once for each plan: it is drawn twice a second.
        self._lines = lines(plan)
        self._order = sorted(range(len(self._lines)), key=self._weight)

    def _weight(self, place: int) -> tuple[bool, bool, bool]:
        line = self._lines[place]
        return line.status.closed, line.status is not Status.IN_PROGRESS, bool(line.waits_for)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """
        Give what fits into the terminal.
        """
        width, height = options.max_width, options.size.height
        news = [row for change in self._changes for row in _told(change, width)]
        news = news[-max(height // 3, 1) :]
        # A row for the title, one for the counts, one before the news; the last one is the
        # terminal's, for the cursor.
        room = max(height - 4 - len(news), _LEAST_ROWS)
        yield Text(clip(f"{self._title}, revision {self._plan.revision}", width), "bold")
        yield Text(clip(f"{' ' * _INDENT}{summary(self._plan)}", width))
        yield from self._tasks(room, width, console)
        if news:
            yield Text()
            yield from news

    def _tasks(self, room: int, width: int, console: Console) -> Iterator[Text]:
        shown: dict[int, list[Text]] = {}
        used = 0
        for place in self._order:
            rows = list(_task(self._lines[place], width, console))
            # A row is kept for the one that tells of the others.
            if used + len(rows) > room - (len(shown) + 1 < len(self._lines)):
                break
            shown[place] = rows
            used += len(rows)
        for place in sorted(shown):
            yield from shown[place]
        left = Counter(line.words for place, line in enumerate(self._lines) if place not in shown)
        if left:
            told = ", ".join(f"{count} {words}" for words, count in left.items())
            yield Text(clip(f"{' ' * _INDENT}not shown: {told}", width), "dim")


def _task(line: Line, width: int, console: Console) -> Iterator[Text]:
    head = Text(" " * min(_INDENT * (1 + line.level), max(width - 2 * _LEAST, 0)))
    head.append(line.mark, COLOURS[line.status]).append(f" {line.id} ")
    text = f"{line.text}{aside(line.notes)}"
    yield from hanging(head, wrapped(text, max(width - head.cell_len, _LEAST), console))


def _told(change: Change, width: int) -> Iterator[Text]:
    head = Text(f"  {change.at}  {change.actor}  ", "dim")
    for row in hanging(head, change.phrases):
        yield Text(clip(row.plain, width), "dim")
