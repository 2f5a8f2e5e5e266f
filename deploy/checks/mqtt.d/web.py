"""HTTP servers that stand for services of others, or have files."""

import threading
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer


class Silent(ThreadingHTTPServer):
    allow_reuse_address = daemon_threads = True

    def handle_error(self, *_):
        """Of a client that was killed there is nothing to be said."""


class Handler(BaseHTTPRequestHandler):
    """Says nothing of each request."""

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, content=b"{}", status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


class Files(SimpleHTTPRequestHandler):
    """Those of a folder: functools.partial(Files, directory=…)."""

    def log_message(self, *_):
        pass


def serve(handler, port=0, host="127.0.0.1"):
    """Serves in a thread of its own; the server, with its `server_port`."""
    server = Silent((host, port), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server
