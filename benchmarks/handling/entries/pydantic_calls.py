"""The calls of the plans for Pydantic AI: similar tools of two packages, with different names."""

from typing import Any

from benchmarks.handling.entries.pydantic_plans import PydanticPlan
from benchmarks.handling.entry import Call, Wish, applied, doing


class PydanticCalls(PydanticPlan):
    """First the list is written. Each change is a call, or the list again if there is no call."""

    def items(self) -> list[dict[str, Any]]:
        """Return the list as the model would write it again."""
        raise NotImplementedError

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish."""
        (what, *given), say = wish, self.words
        if what == "parallel" or (what == "batch" and any(w[0] == "delete" for w in given)):
            return [call for each in given for call in self.calls(each)]
        if what == "batch":
            return [(say["statuses"], {"updates": [self._moved(each) for each in given]})]
        if what in {"read", "omit"}:
            return [(self.read if what == "read" else say["write"], {})]
        if what == "add":
            return [(say["add"], self._item(text)) for text in given[0]]
        if what in {"create", "rewrite"}:
            listed = given[0] if what == "rewrite" else applied([], wish)
            ids = {task.text: task.id for task in self.tasks()}
            items = [
                {**({"id": ids[text]} if text in ids else {}), **self._item(text), "status": word}
                for text, word in listed
            ]
            return [(say["write"], {say["items"]: items})]
        one = self.id_of(given[0])
        if what == "delete":
            return [(say["remove"], {say["id"]: one})]
        if what == "wait":
            keys = [{say["id"]: one, "depends_on_id": self.id_of(text)} for text in given[1]]
            return [("set_dependency", each) for each in keys]
        if what in {"rename", "unwait"}:
            free = {"depends_on": [], "status": "pending"}
            change = {"content": given[1]} if what == "rename" else free
            items = [{**i, **(change if i["id"] == one else {})} for i in self.items()]
            return [(say["write"], {say["items"]: items})]
        return [(say["status"], self._moved(wish))]

    def _moved(self, wish: Wish) -> dict[str, Any]:
        return {self.words["id"]: self.id_of(wish[1]), "status": doing(wish)}

    def _item(self, text: str) -> dict[str, Any]:
        return {"content": text, "active_form": f"Doing {text}"}
