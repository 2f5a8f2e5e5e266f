"""Firefox without a driver program: it speaks Marionette, JSON with its length before it, on a port of its own. It plays no
sound without a device, so a PulseAudio of its own is one that nobody hears.

    with Firefox(folder) as firefox:
        firefox.open(address); firefox.run(script); firefox.value(expression); firefox.wait_for(a promise)
        firefox.until(expression, seconds); firefox.click(selector); firefox.picture(path)
"""

import base64
import json
import os
import socket
import tempfile
import time

from kinds import free_port
from programs import spawn


class Firefox:
    def __init__(self, folder):
        self.port, self.number = free_port(), 0
        self.profile = tempfile.mkdtemp(dir=folder, prefix="firefox-")
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            file.write(f'user_pref("marionette.port", {self.port});\nuser_pref("app.update.enabled", false);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                       'user_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("toolkit.telemetry.enabled", false);\nuser_pref("network.captive-portal-service.enabled", false);\n')
        run = os.path.join(self.profile, "run")
        os.mkdir(run, 0o700)
        self.sound = spawn(["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--load=module-null-sink",
                            f"--load=module-native-protocol-unix auth-anonymous=1 socket={run}/native"], env={**os.environ, "HOME": self.profile, "XDG_RUNTIME_DIR": run})
        self.process = spawn(["firefox-esr", "--marionette", "--headless", "--no-remote", "--profile", self.profile, "--width", "1280", "--height", "900"],
                             os.path.join(self.profile, "log"), env={**os.environ, "HOME": self.profile, "PULSE_SERVER": f"unix:{run}/native"})
        self.socket = None

    def __enter__(self):
        end = time.monotonic() + 90
        while self.socket is None:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port), 180)
            except OSError:
                assert time.monotonic() < end and self.process.poll() is None, "Firefox does not come up"
                time.sleep(0.2)
        self.file = self.socket.makefile("rb")
        self.read()
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})
        return self

    def __exit__(self, *_):
        if self.socket:
            self.socket.close()
        for process in (self.process, self.sound):
            process.kill()
            process.wait()

    def read(self):
        length = b""
        while (byte := self.file.read(1)) != b":":
            assert byte, "Firefox has hung up"
            length += byte
        return json.loads(self.file.read(int(length)))

    def call(self, command, parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.read()
        assert error is None, f"{command}: {error}"
        return result

    def open(self, address):
        self.call("WebDriver:Navigate", {"url": address})

    def run(self, script):
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": [], "sandbox": None})["value"]

    def value(self, expression):
        return self.run(f"return ({expression});")

    def wait_for(self, promise):
        return self.call("WebDriver:ExecuteAsyncScript", {"script": f"const done = arguments[arguments.length - 1]; Promise.resolve({promise}).then(done);", "args": [], "sandbox": None})["value"]

    def until(self, expression, seconds):
        end = time.monotonic() + seconds
        while not self.run(f"try {{ return !!({expression}); }} catch (error) {{ return false; }}"):
            assert time.monotonic() < end, f"not within {seconds} s in Firefox: {expression}"
            time.sleep(0.03)

    def click(self, selector):
        """Clicks; anew where the page has made the element again in between."""
        for attempt in range(5):
            found = self.call("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
            try:
                return self.call("WebDriver:ElementClick", {"id": next(iter(found.values()))})
            except AssertionError as error:
                if "stale element" not in str(error) or attempt == 4:
                    raise

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False})["value"]))
