"""
A model that plays a script, behind four wire formats: Anthropic Messages, OpenAI Responses, OpenAI
Chat and Gemini, streamed or whole.

It serves on 127.0.0.1 alone, needs no key, and keeps each request, so that a test can read and
count what the model was shown.
"""

import json
import re
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock, Thread
from time import sleep
from urllib.parse import urlsplit

import attrs


@attrs.frozen
class Call:
    """A call of a tool: its name, its arguments (a text for a free-text tool), its namespace."""

    name: str
    arguments: object
    namespace: str | None = None


@attrs.frozen
class Answer:
    """What the model answers; `usage` is the number of input tokens that it claims."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: int = 100


@attrs.frozen
class Request:
    """A request to the model: the name of its wire format, and its body."""

    wire: str
    body: dict

    def offered(self):
        """Return the tools as pairs of a namespace, which only Responses has, and a name."""
        found, tools = [], [*(self.body.get("tools") or ())]
        for tool in tools:
            if "functionDeclarations" in tool:
                found += [(None, one["name"]) for one in tool["functionDeclarations"]]
            elif tool.get("type") == "namespace":
                found += [(tool["name"], one["name"]) for one in tool["tools"]]
            else:
                named = tool.get("function") or tool
                found.append((None, named.get("name") or tool.get("type")))
        return found

    def shown(self):
        """Return what the model reads: instructions, tools and messages, as JSON."""
        names = ("system", "instructions", "systemInstruction", "tools", *_MESSAGES)
        read = {name: self.body[name] for name in names if self.body.get(name)}
        return json.dumps(read, ensure_ascii=False, separators=(",", ":"))

    def messages(self):
        """Return the conversation alone, in the form of the wire."""
        found = next((self.body[name] for name in _MESSAGES if name in self.body), [])
        return found if isinstance(found, list) else [found]


_MESSAGES = ("messages", "input", "contents")


# A function per wire format returns the whole answer, and the events of the streamed one as pairs
# of a name (or None) and data.


def _anthropic(answer, body, number):
    content = [{"type": "text", "text": answer.text}] if answer.text else []
    for index, call in enumerate(answer.calls):
        block = {"type": "tool_use", "id": f"toolu_{number:04}{index}", "name": call.name}
        content.append({**block, "input": call.arguments})
    usage = {"input_tokens": answer.usage, "output_tokens": 10}
    stop = "tool_use" if answer.calls else "end_turn"
    # Claude Code takes two answers with one id for parts of one message.
    message = {"id": f"msg_{number:04}", "type": "message", "role": "assistant"}
    message |= {"model": body.get("model"), "content": [], "stop_reason": None}
    message |= {"stop_sequence": None, "usage": usage}
    events = [("message_start", {"message": message})]
    for index, block in enumerate(content):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            given = json.dumps(block["input"])
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": given}
        events.append(("content_block_start", {"index": index, "content_block": empty}))
        events.append(("content_block_delta", {"index": index, "delta": delta}))
        events.append(("content_block_stop", {"index": index}))
    end = {"stop_reason": stop, "stop_sequence": None}
    events.append(("message_delta", {"delta": end, "usage": {"output_tokens": 10}}))
    events.append(("message_stop", {}))
    whole = {**message, "content": content, "stop_reason": stop}
    return whole, [(kind, {"type": kind, **data}) for kind, data in events]


def _responses(answer, body, number):
    items = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item = {"type": "message", "id": f"msg_{number:04}", "role": "assistant"}
        items.append({**item, "content": [part], "status": "completed"})
    for index, call in enumerate(answer.calls):
        item = {"id": f"fc_{number:04}{index}", "call_id": f"call_{number:04}{index}"}
        item |= {"name": call.name, "status": "completed"}
        if isinstance(call.arguments, str):
            item |= {"type": "custom_tool_call", "input": call.arguments}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(call.arguments)}
        items.append(item | ({"namespace": call.namespace} if call.namespace else {}))
    usage = {"input_tokens": answer.usage, "input_tokens_details": {"cached_tokens": 0}}
    usage |= {"output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}}
    usage["total_tokens"] = answer.usage + 10
    response = {"id": f"resp_{number:04}", "object": "response", "status": "in_progress"}
    response |= {"model": body.get("model"), "output": []}
    done = {**response, "status": "completed", "output": items, "usage": usage}
    events = [("response.created", {"response": response})]
    for index, item in enumerate(items):
        data = {"output_index": index, "item": item}
        events += [(f"response.output_item.{kind}", data) for kind in ("added", "done")]
    events.append(("response.completed", {"response": done}))
    return done, [(kind, {"type": kind, **data}) for kind, data in events]


def _chat(answer, body, number):
    calls = []
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        made = {"index": index, "id": f"call_{number:04}{index}", "type": "function"}
        calls.append({**made, "function": function})
    message = {"role": "assistant", "content": answer.text or None}
    message |= {"tool_calls": calls} if calls else {}
    stop = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": answer.usage, "completion_tokens": 10}
    usage["total_tokens"] = answer.usage + 10
    head = {"id": f"chatcmpl-{number:04}", "created": 1, "model": body.get("model")}
    parts = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {"choices": [], "usage": usage},
    ]
    events = [(None, {**head, "object": "chat.completion.chunk", **part}) for part in parts]
    choice = {"index": 0, "message": message, "finish_reason": stop}
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}
    return whole, [*events, (None, "[DONE]")]


def _gemini(answer, body, number):
    parts = [{"text": answer.text}] if answer.text else []
    for index, call in enumerate(answer.calls):
        made = {"id": f"call{number:04}{index}", "name": call.name, "args": call.arguments}
        parts.append({"functionCall": made})
    usage = {"promptTokenCount": answer.usage, "candidatesTokenCount": 10}
    usage["totalTokenCount"] = answer.usage + 10
    content = {"role": "model", "parts": parts}
    candidate = {"index": 0, "finishReason": "STOP", "content": content}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
    return whole, [(None, whole)]


WIRES = {
    "anthropic": (r"/messages$", _anthropic),
    "responses": (r"/responses$", _responses),
    "chat": (r"/chat/completions$", _chat),
    "gemini": (r":(stream)?[gG]enerateContent$", _gemini),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        with suppress(ConnectionError):  # a host that has ended
            super().handle()

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "stub", "object": "model", "type": "model"}]}
        self._send(models, 200 if self.path.endswith("/models") else 404)

    def do_HEAD(self):
        self.do_GET()

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path, body = urlsplit(self.path).path, json.loads(raw or b"{}")
        if path.endswith(("count_tokens", ":countTokens")):
            self._send({"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
            return
        found = [name for name, (pattern, _) in WIRES.items() if re.search(pattern, path)]
        if not found:
            self._send({"error": {"message": f"the stub has no {path}"}}, 404)
            return
        answer, request = None, Request(found[0], body)
        while answer is None:
            with self.server.lock:
                answer, number = self.server.answer(request), next(self.server.numbers)
            sleep(0 if answer else 0.1)
        whole, events = WIRES[found[0]][1](answer, body, number)
        if not (body.get("stream") or "stream" in path):
            self._send(whole)
            return
        lines = [
            (f"event: {name}\n" if name else "")
            + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            for name, data in events
        ]
        self._send("".join(lines).encode(), kind="text/event-stream")

    def _send(self, data, status=200, kind="application/json"):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def answering(answer):
    """
    Serve a model while the block runs. Yields the server's address.

    `answer` takes a `Request` and returns an `Answer`, or `None` to be asked again a little later.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.answer, server.lock, server.numbers = answer, Lock(), count(1)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
