"""What stands for the services that bring messages to people: an HTTP server for ntfy and Apprise, and a sendmail."""

import json
import os
import re
import time

from web import Handler, serve

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

        class Topics(Handler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                try:
                    content = json.loads(self.body())
                except ValueError:
                    content = None
                if content and content.get("topic") in outer.silent_topics:
                    time.sleep(60)
                good = outer.behaviour == "good" and content is not None
                (outer.got if good else outer.refused).append((time.monotonic(), self.path, dict(self.headers), content))
                self.answer(status=200 if good else 503)

        self.http = serve(Topics, self.port)
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
