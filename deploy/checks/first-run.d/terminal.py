"""A terminal in a machine of systemd-nspawn, in which somebody types."""

import os
import pty
import re
import select
import signal
import time

PROMPT, MORE = "\x1e$ ", "\x1e+ "
# What is asked, and what a newcomer without a sensor answers; Enter for all else that ends as a question does.
ANSWERS = [
    (r"Sensor \(.*\) \[.*\]: $", "simulate"),
    (r"Broker .*: $", "here"),
    (r"Groups, .*: $", "school"),
    (r"Latitude .*: $", "47.5"),
    (r"Longitude .*: $", "7.6"),
    (r"clock.*\[.*\]: $", "y"),
    (r"\[y/N\][:?]? ?$|\[Y/n\][:?]? ?$|\(y/n\).*$", "y"),
    (r"(Enter goes on\.|\]:|\?|:) ?$", ""),
]


class Stuck(Exception):
    """A command that neither ends nor asks."""


class Terminal:
    def __init__(self, leader, path, record):
        self.id, self.file = pty.fork()
        if self.id == 0:
            # (A check that runs in the background was started with Ctrl-C ignored, and what it starts would ignore it too.)
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.execvp("nsenter", ["nsenter", "--target", leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd",
                                  "/usr/bin/env", "-i", "TERM=dumb", "COLUMNS=200", "su", "-", "pi"])
        self.record = open(record, "a", encoding="utf-8")
        self.text, self.questions = "", []
        self.wait(lambda: re.search(r"[$#] $", self.text), 60)
        # (By PROMPT_COMMAND, because ~/.profile sets a prompt of its own when a page has it read again.)
        self.send("stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null; PS2=$'\\x1e+ '; "
                  "PROMPT_COMMAND=$'PS1=\\'\\x1e$ \\''\n")
        self.wait(lambda: self.text.endswith(PROMPT), 30)
        if path:
            self.line(f"export PATH={path}:$PATH")
        self.line("trap 'failed=\"$failed $BASH_COMMAND [$?];\"' ERR")

    def send(self, words):
        os.write(self.file, words.encode())

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self.file, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError as error:
            raise Stuck("the terminal was closed") from error
        self.text += more
        self.record.write(more)
        self.record.flush()
        return True

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Stuck(self.text[-2000:])
            self.read(0.2)

    def line(self, words, limit=None, patience=3600):
        """Types a line. With a limit Ctrl-C comes after so many seconds. Returns what was printed."""
        self.text = ""
        self.record.write(f"\n>>> {words}\n")
        self.send(words + "\n")
        began = quiet = time.monotonic()
        while not self.text.endswith((PROMPT, MORE)):
            now = time.monotonic()
            if self.read(0.2):
                quiet = time.monotonic()
                # (The bars of the sensor go on moving while they are looked at.)
                if "Enter goes on." in self.text and self.text.count("mean ") > 30:
                    self.questions.append(("Enter goes on.", ""))
                    self.send("\n")
                    self.text = self.text.replace("Enter goes on.", "")
            elif limit and now - began > limit:
                self.send("\x03")
                limit = None
            elif now - quiet > 3 and self.asks():
                quiet = now
            elif now - began > patience:
                raise Stuck(self.text[-2000:])
        return self.text[: -len(PROMPT)]

    def asks(self):
        """Answers where the last line is a question."""
        last = self.text.rsplit("\n", 1)[-1]
        for pattern, answer in ANSWERS:
            if last.strip() and re.search(pattern, last):
                self.questions.append((last.strip(), answer))
                # (The same question again would be the same answer again.)
                if len(self.questions) > 60:
                    raise Stuck(f"asked for ever: {last}")
                self.send(answer + "\n")
                self.text += "\n"
                return True
        return False

    def close(self):
        self.record.close()
        os.kill(self.id, signal.SIGKILL)
        os.waitpid(self.id, 0)
