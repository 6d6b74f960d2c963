"""A transport of the Claude Agent SDK that plays a script instead of running Claude Code."""

import asyncio
import json
import re
from itertools import count

from claude_agent_sdk import Transport

_VERSION = "2025-06-18"


class ScriptedCLI(Transport):
    """
    Plays the turns of a script in one session, and calls the hooks as Claude Code does.

    First come the hooks of the session and of the prompt. For each message of the model its
    planning calls follow, one after the other and each with its hook, and then the hook of the
    batch. After a final answer the hook `Stop` decides whether the model goes on.

    `told` has the texts that hooks have added to the conversation, each with its event. `answers`
    has the results of the calls by call id. `agents` has the hook fields of a subagent, by the id
    of the call that comes from it.
    """

    def __init__(self, *turns, session="s1", source="startup", agents=None, server="plan", **stop):
        self.turns, self.session, self.source, self.stop = [*turns], session, source, stop
        self.agents, self.server, self.subject = agents or {}, server, "go"
        self.told, self.answers, self.tools, self.instructions = [], {}, [], None
        self._last = ""
        self._hooks, self._waiting, self._numbers = {}, {}, count(1)
        self._read, self._work = asyncio.Queue(), None

    async def connect(self):
        """Do nothing: there is no process."""

    def is_ready(self):
        return True

    async def end_input(self):
        self._read.put_nowait(None)

    async def close(self):
        if self._work is not None:
            self._work.cancel()
        self._read.put_nowait(None)

    async def read_messages(self):
        while (message := await self._read.get()) is not None:
            yield message

    async def write(self, data):
        message = json.loads(data)
        if message["type"] == "control_request":
            assert message["request"]["subtype"] == "initialize"
            self._hooks = message["request"]["hooks"] or {}
            reply = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            self._read.put_nowait({"type": "control_response", "response": reply})
        elif message["type"] == "control_response":
            response = message["response"]
            self._waiting.pop(response["request_id"]).set_result(response)
        else:
            self._work = asyncio.ensure_future(self._run(message["message"]["content"]))

    async def _run(self, prompt):
        try:
            await self._played(prompt)
        except Exception as error:  # noqa: BLE001 - the test is to see it
            result = {
                "subtype": "error_during_execution",
                "is_error": True,
                "errors": [repr(error)],
            }
        else:
            result = {"subtype": "success", "is_error": False, "result": self._last or "done"}
        numbers = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
        told = {"type": "result", "session_id": self.session, **numbers, **result}
        self._read.put_nowait(told)

    async def _played(self, prompt):
        await self._handshake()
        await self.hook("SessionStart", source=self.source)
        await self.hook("UserPromptSubmit", prompt=prompt)
        while self.turns:
            turn = self.turns.pop(0)
            if turn.calls:
                for call in turn.calls:
                    await self._call(call)
                await self.hook("PostToolBatch", **self.agents.get(turn.calls[-1].call_id, {}))
                continue
            self._last = turn.text
            told = {"stop_hook_active": False, "last_assistant_message": turn.text, **self.stop}
            if not await self.hook("Stop", **told):
                break

    async def _handshake(self):
        told = {"protocolVersion": _VERSION, "capabilities": {}}
        found = await self.mcp("initialize", **told, clientInfo={"name": "c", "version": "1"})
        self.instructions = found["result"].get("instructions")
        message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self._asked("mcp_message", server_name=self.server, message=message)
        self.tools = (await self.mcp("tools/list"))["result"]["tools"]

    async def _call(self, call):
        if call.name == "Bash":  # a tool of the program's own
            return
        name = f"mcp__{self.server}__{call.name}"
        agent = self.agents.get(call.call_id, {})
        await self.hook("PreToolUse", name, tool_name=name, tool_use_id=call.call_id, **agent)
        meta = {"claudecode/toolUseId": call.call_id}
        answer = await self.mcp("tools/call", name=call.name, arguments=call.arguments, _meta=meta)
        self.answers[call.call_id] = answer.get("result", answer)

    async def mcp(self, method, **params):
        """Send a request to the MCP server in this process; return its answer."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        told = {"server_name": self.server, "message": message}
        return (await self._asked("mcp_message", **told))["mcp_response"]

    async def hook(self, event, tool="", **told):
        """Call the hooks of an event; return the text that they add, if they add one."""
        texts = []
        for matcher in self._hooks.get(event, ()):
            if not re.fullmatch(matcher["matcher"] or ".*", tool):
                continue
            given = {"session_id": self.session, "hook_event_name": event, **told}
            for callback in matcher["hookCallbackIds"]:
                asked = {"callback_id": callback, "input": given}
                asked["tool_use_id"] = told.get("tool_use_id")
                output = await self._asked("hook_callback", **asked)
                texts.append(output.get("hookSpecificOutput", {}).get("additionalContext", ""))
        text = "".join(texts)
        if text:
            self.told.append((event, text))
        return text

    async def _asked(self, subtype, **request):
        number = f"cli-{next(self._numbers)}"
        self._waiting[number] = asyncio.get_running_loop().create_future()
        told = {"type": "control_request", "request_id": number}
        self._read.put_nowait({**told, "request": {"subtype": subtype, **request}})
        response = await self._waiting[number]
        assert response["subtype"] == "success", response
        return response["response"]
