"""A Home Assistant without a head, for a while: started, its first user made, MQTT added; asked over REST and WebSocket."""

import asyncio
import json
import os
import pathlib
import signal
import subprocess
import time

import aiohttp

CONFIGURATION = """\
homeassistant: {{name: Check, latitude: 52.0, longitude: 5.0, elevation: 0, unit_system: metric, time_zone: UTC, country: NL}}
http: {{server_host: 127.0.0.1, server_port: {port}}}
frontend:
config:
history:
recorder: {{commit_interval: 1}}
logger: {{default: warning}}
"""


class HomeAssistant:
    def __init__(self, environment, folder, port):
        self.environment, self.folder, self.port = pathlib.Path(environment), pathlib.Path(folder), port
        self.base = f"http://127.0.0.1:{port}"
        self.process = self.session = self.token = self.refresh = None
        # What the page of a browser gets: entity -> state and attributes, and every state in its order.
        self.states, self.past, self.watching = {}, [], None

    @property
    def client(self):
        return self.base + "/"

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "configuration.yaml").write_text(CONFIGURATION.format(port=self.port))
        environment = dict(os.environ, PATH=f"{self.environment}/bin:" + os.environ["PATH"])
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", f"{self.environment}/bin/hass", "-c", str(self.folder), "--skip-pip"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def log(self):
        path = self.folder / "home-assistant.log"
        return path.read_text(errors="replace") if path.exists() else ""

    async def up(self, seconds=240):
        """Until it answers; for the first time it makes its database, which takes long on a busy machine."""
        self.session = self.session or aiohttp.ClientSession()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError("it has ended: " + (self.folder / "output").read_text()[-2000:])
            try:
                async with self.session.get(self.base + "/api/onboarding") as reply:
                    if reply.status in (200, 404):
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.2)
        raise TimeoutError("Home Assistant did not come up")

    async def call(self, method, path, **arguments):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with self.session.request(method, self.base + path, headers=headers, **arguments) as reply:
            text = await reply.text()
            if reply.status >= 300:
                raise RuntimeError(f"{method} {path}: {reply.status} {text[:300]}")
            try:
                return json.loads(text)
            except ValueError:
                return text

    async def settle_in(self, broker):
        """The first user, and the broker on this port."""
        made = await self.call("POST", "/api/onboarding/users", json={
            "client_id": self.client, "name": "Check", "username": "check", "password": "check-check", "language": "en"})
        tokens = await self.call("POST", "/auth/token", data={
            "client_id": self.client, "grant_type": "authorization_code", "code": made["auth_code"]})
        self.token, self.refresh = tokens["access_token"], tokens["refresh_token"]
        for step in ("core_config", "analytics"):
            try:
                await self.call("POST", f"/api/onboarding/{step}", json={})
            except RuntimeError:
                pass  # wants integrations that are not there: harmless
        await self.call("POST", "/api/onboarding/integration", json={
            "client_id": self.client, "redirect_uri": self.client + "?auth_callback=1"})
        flow = await self.call("POST", "/api/config/config_entries/flow",
                               json={"handler": "mqtt", "show_advanced_options": False})
        result = await self.call("POST", f"/api/config/config_entries/flow/{flow['flow_id']}",
                                 json={"broker": "127.0.0.1", "port": broker})
        if result.get("type") != "create_entry":
            raise RuntimeError(f"MQTT was not set up: {result}")

    async def renew(self):
        """Another token: after a restart."""
        tokens = await self.call("POST", "/auth/token", data={
            "client_id": self.client, "grant_type": "refresh_token", "refresh_token": self.refresh})
        self.token = tokens["access_token"]

    async def service(self, domain, name, **data):
        return await self.call("POST", f"/api/services/{domain}/{name}", json=data)

    async def ask(self, kind):
        """One question over WebSocket."""
        async with self.session.ws_connect(self.base + "/api/websocket", max_msg_size=0) as socket:
            await self.greet(socket)
            await socket.send_json({"id": 1, "type": kind})
            return (await socket.receive_json())["result"]

    async def greet(self, socket):
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": self.token})
        answer = await socket.receive_json()
        if answer["type"] != "auth_ok":
            raise RuntimeError(f"not let in: {answer}")

    async def watch(self):
        """Follows all entities in the way that the pages of a browser do."""
        socket = await self.session.ws_connect(self.base + "/api/websocket", max_msg_size=0)
        await self.greet(socket)
        await socket.send_json({"id": 1, "type": "subscribe_entities"})
        self.states.clear()
        self.watching = asyncio.ensure_future(self.follow(socket))

    async def follow(self, socket):
        async for message in socket:
            if message.type != aiohttp.WSMsgType.TEXT:
                return
            several = json.loads(message.data)
            for one in several if isinstance(several, list) else [several]:
                if one.get("type") == "event":
                    self.take(one["event"])

    def take(self, event):
        for entity, new in event.get("a", {}).items():
            self.states[entity] = {"state": new["s"], "attributes": dict(new["a"])}
            self.past.append((entity, new["s"], dict(new["a"])))
        for entity, change in event.get("c", {}).items():
            known = self.states.setdefault(entity, {"state": None, "attributes": {}})
            new = change.get("+", {})
            known["attributes"].update(new.get("a", {}))
            for gone in change.get("-", {}).get("a", []):
                known["attributes"].pop(gone, None)
            known["state"] = new.get("s", known["state"])
            self.past.append((entity, known["state"], dict(known["attributes"])))
        for entity in event.get("r", []):
            self.states.pop(entity, None)

    async def until(self, what, right, seconds=30):
        """Waits for a condition on what is known; fails with its name."""
        deadline = time.monotonic() + seconds
        while True:
            found = right()
            if found:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not within {seconds} s")
            await asyncio.sleep(0.1)

    def state(self, entity):
        return self.states.get(entity, {}).get("state")

    async def device(self, serial):
        """Of the registry; nil when it is not there."""
        devices = await self.ask("config/device_registry/list")
        return next((device for device in devices if device.get("serial_number") == serial), None)

    async def entities(self, device):
        return [entity for entity in await self.ask("config/entity_registry/list") if entity["device_id"] == device["id"]]

    async def leave(self):
        if self.watching:
            self.watching.cancel()
        if self.session:
            await self.session.close()
            self.session = None
