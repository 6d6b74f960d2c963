"""A model behind Anthropic's Messages API that follows a script, as a server on this machine."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from uuid import uuid4


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """
        Say nothing.
        """

    def do_HEAD(self):
        self._send(b"", "text/plain")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text, calls = self.server.answer(body)
        self._send(b"".join(_events(text, calls)), "text/event-stream")

    def _send(self, data, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _events(text, calls):
    """
    Yield the events of a streamed answer: its text, and its calls as (id, name, arguments).
    """
    usage = {"input_tokens": 9, "output_tokens": 9}
    # The program takes two answers with one id for parts of one message.
    message = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
    }
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    found = [("message_start", {"message": message})]
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})][: len(text)]
    for call_id, name, arguments in calls:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        part = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        blocks.append((block, part))
    for index, (block, delta) in enumerate(blocks):
        found.append(("content_block_start", {"index": index, "content_block": block}))
        found.append(("content_block_delta", {"index": index, "delta": delta}))
        found.append(("content_block_stop", {"index": index}))
    end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    found.append(("message_delta", {"delta": end, "usage": {"output_tokens": 9}}))
    found.append(("message_stop", {}))
    for kind, data in found:
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


@contextmanager
def answering(answer):
    """
    Serve a model while the block runs; `answer` takes the body of a request and returns a text and
    calls. Yields the server's address.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.answer = answer
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
