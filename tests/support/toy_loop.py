"""A small framework, for which the test of `todoplan new-adapter` completes the new files."""

import json


class Thread:
    """A conversation: its messages, and a state that is kept with them."""

    def __init__(self, name, messages=(), state=()):
        self.name, self.messages, self.state = name, [*messages], dict(state)


class Storage(dict):
    """All threads by their names."""

    def open(self, name):
        return self.setdefault(name, Thread(name))

    def dumps(self):
        return json.dumps([vars(thread) for thread in self.values()])

    def loads(self, text):
        self.update((each["name"], Thread(**each)) for each in json.loads(text))


class Tool:
    """Something that the model may call: `await run(agent, arguments, call_id)`."""

    def __init__(self, name, description, schema, run):
        self.name, self.description, self.schema, self.run = name, description, schema, run


class Agent:
    """
    A model that works in a thread. `before`, `after` and `around` are for those who extend it.
    """

    def __init__(self, model, thread):
        self.model, self.thread, self.prompt, self.tools = model, thread, "You work.", []
        self.before = self.after = lambda: None
        self.around = lambda messages, ask: ask(messages)

    async def run(self, text):
        self.thread.messages.append({"role": "user", "text": text})
        self.before()
        try:
            while await self._step():
                pass
        finally:
            self.after()

    async def _step(self):
        answer = await self.around(self.thread.messages, self._ask)
        self.thread.messages.append(answer)
        results = [await self._result(**call) for call in answer["calls"]]
        self.thread.messages += results
        return results

    async def _ask(self, messages):
        return await self.model([{"role": "system", "text": self.prompt}, *messages], self.tools)

    async def _result(self, name, arguments, call_id):
        text, is_error = f"There is no tool {name}.", True
        for tool in self.tools:
            if tool.name == name:
                text, is_error = await tool.run(self, arguments, call_id)
        return {"role": "tool", "text": text, "call_id": call_id, "is_error": is_error}
