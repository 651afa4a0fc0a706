"""A small server that speaks the chat protocol, for tests: what it says next is scripted."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(text, tokens_in=100, tokens_out=10):
    """The body of an answer as the protocol has it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "eyes",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


class StandIn:
    """What was asked, and what is answered: `answer` takes the request's number and body.

    It returns (status, headers, body): a body that is no bytes is written as JSON.
    """

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.heads = []
        self.paths = []
        self.lock = threading.Lock()
        self.url = ""


@contextmanager
def serve(answer):
    state = StandIn(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                number = len(state.asked)
                state.asked.append(body)
                state.heads.append(dict(self.headers))
                state.paths.append(self.path)
            status, headers, said = state.answer(number, body)
            if status == "hang":
                time.sleep(said)
                return
            data = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
