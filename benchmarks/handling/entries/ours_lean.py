"""todoplan's `lean`: one tool, written once and then changed by id."""

from typing import Any

from benchmarks.handling.entries.ours import Ours
from benchmarks.handling.entry import Call, Wish
from todoplan import LEAN


class Lean(Ours):
    """It has no statuses: `done` starts the next task by itself."""

    name, toolset, read = "todoplan-lean", LEAN, "plan"

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish; the wishes of a `batch` are joined into one call."""
        what, *given = wish
        if what == "start":
            # `start` is accepted, to reopen a task too, but no definition or prompt names it.
            return []
        if what == "parallel":
            return [call for each in given for call in self.calls(each)]
        if what == "batch":
            return [("plan", self._joined(given))]
        return [("plan", self._said(what, given))]

    def _joined(self, wishes: list[Wish]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for what, *given in wishes:
            if what == "start":
                continue
            for key, value in self._said(what, given).items():
                found[key] = [*found.get(key, []), *value]
        return found

    def _said(self, what: str, given: list[Any]) -> dict[str, Any]:
        if what in {"read", "omit"}:
            return {}
        if what == "create":
            return {"add" if self.tasks() else "write": given[0]}
        if what == "add":
            return {"add": given[0]}
        if what == "rewrite":
            return {"write": [text for text, _ in given[0]]}
        one = self.id_of(given[0])
        number: Any = int(one) if one.isdigit() else one
        if what in {"complete", "delete"}:
            return {"done" if what == "complete" else "drop": [number]}
        if what == "rename":
            return {"edit": [{"id": number, "text": given[1]}]}
        if what == "wait":
            return {"edit": [{"id": number, "after": [*map(self._number, given[1])]}]}
        if what == "unwait":
            return {"edit": [{"id": number, "after": []}]}
        raise KeyError(what)

    def _number(self, text: str) -> Any:
        one = self.id_of(text)
        return int(one) if one.isdigit() else one
