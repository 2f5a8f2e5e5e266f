"""What stands for the services that bring messages to people: an HTTP server for ntfy and Apprise, and a sendmail."""

import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What ntfy takes: https://docs.ntfy.sh/publish/#publish-as-json
KEYS = {"topic", "title", "message", "priority", "sequence_id", "click"}


class Server:
    """`behaviour`: `good`, `failing` (503) or `silent` (no answer for 60 s). `got`: (time.monotonic(), path, headers, content)
    of what was taken; `refused`: what was not."""

    def __init__(self, port):
        self.port, self.behaviour, self.got, self.refused, self.http = port, "good", [], [], None
        self.silent_topics = set()

    def start(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    content = json.loads(body)
                except ValueError:
                    content = None
                if content and content.get("topic") in outer.silent_topics:
                    time.sleep(60)
                good = outer.behaviour == "good" and content is not None
                (outer.got if good else outer.refused).append((time.monotonic(), self.path, dict(self.headers), content))
                self.send_response(200 if good else 503)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            allow_reuse_address = daemon_threads = True

            def handle_error(self, *_):
                """Of a client that was killed there is nothing to be said."""

        self.http = Quiet(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def of(self, topic):
        """The messages on a topic of ntfy, in their order; all is as ntfy takes it."""
        found = [content for _, path, _, content in self.got if path == "/" and content.get("topic") == topic]
        for one in found:
            assert not set(one) - KEYS and 1 <= one["priority"] <= 5 and one["message"], one
            assert re.fullmatch("[-_A-Za-z0-9]{1,64}", one.get("sequence_id", "x")), one
        return found

    def titles(self, topic):
        return [one["title"] for one in self.of(topic)]

    def apprise(self):
        return [content for _, path, _, content in self.got if path == "/apprise"]


class Mail:
    """A sendmail in a folder of its own, which keeps what it is given."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        path = os.path.join(folder, "sendmail")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ "$*" = "-i -t" ] || exit 64\ncat >"{folder}/writing.$$" && mv "{folder}/writing.$$" "{folder}/mail.$$"\n')
        os.chmod(path, 0o755)

    def all(self):
        found = []
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("mail."):
                with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                    found.append(file.read())
        return found
