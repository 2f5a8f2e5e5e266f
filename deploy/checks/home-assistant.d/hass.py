"""A Home Assistant without a head, for a while: started, its first user made, MQTT added; asked over REST and WebSocket."""

import asyncio
import json
import os
import pathlib
import re
import time

import aiohttp

from programs import Program
from verdict import until

CONFIGURATION = """\
homeassistant: {{name: Check, latitude: 52.0, longitude: 5.0, elevation: 0, unit_system: metric, time_zone: UTC, country: NL}}
http: {{server_host: 127.0.0.1, server_port: {port}}}
frontend:
config:
history:
recorder: {{commit_interval: 1}}
logger: {{default: warning}}
input_boolean: {{lamp: , told: }}
automation: !include automations.yaml
"""

# The blueprints of deploy/integrations, in the place of a light and of a message something that can be looked at.
AUTOMATIONS = """\
- id: light
  alias: light
  use_blueprint:
    path: seismote/seismote-light.yaml
    input: {sensor: VIBRATION, light: input_boolean.lamp, after: 1}
- id: message
  alias: message
  use_blueprint:
    path: seismote/seismote-message.yaml
    input:
      event: EVENT
      intensity: 4
      earthquakes: true
      actions:
        - action: persistent_notification.create
          data: {title: "Seismote", message: "{{ station }}: {{ intensity }}, {{ likely }}", notification_id: "{{ event_id }}"}
        - action: input_boolean.toggle
          target: {entity_id: input_boolean.told}
"""
BLUEPRINTS = pathlib.Path(__file__).resolve().parents[2] / "integrations/home-assistant/blueprints"


class HomeAssistant(Program):
    def __init__(self, environment, folder, port):
        self.environment, self.folder, self.port = pathlib.Path(environment), pathlib.Path(folder), port
        self.base = f"http://127.0.0.1:{port}"
        # From 2024.10 on: older ones have other words for the same.
        self.blueprints = False
        self.session = self.token = self.refresh = None
        super().__init__(str(self.folder / "output"), f"{self.environment}/bin/hass", "-c", str(self.folder), "--skip-pip")
        # What the page of a browser gets: entity -> state and attributes, and every state in its order.
        self.states, self.past, self.watching = {}, [], None
        # An entity's id -> the one that its name would give, by which the check knows it; and back.
        self.names, self.ids = {}, {}

    @property
    def client(self):
        return self.base + "/"

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        configuration = CONFIGURATION.format(port=self.port)
        if self.blueprints:
            # Newer ones take the ids that the station proposes, older ones make them of the names.
            proposes = int(re.search(r"(\d{4})\.\d+", self.environment.name)[1]) >= 2026
            name = "seismote_ha_check" if proposes else "cellar"
            (self.folder / "automations.yaml").write_text(AUTOMATIONS.replace(
                "VIBRATION", f"binary_sensor.{name}_vibration").replace(
                "EVENT", f"event.{name}_{'event' if proposes else 'seismic_event'}"))
            place = self.folder / "blueprints/automation/seismote"
            place.mkdir(parents=True, exist_ok=True)
            for path in BLUEPRINTS.glob("*.yaml"):
                (place / path.name).write_text(path.read_text())
        else:
            configuration = configuration.replace("automation: !include automations.yaml\n", "")
        (self.folder / "configuration.yaml").write_text(configuration)
        environment = dict(os.environ, PATH=f"{self.environment}/bin:" + os.environ["PATH"])
        super().start(env=environment, start_new_session=True)

    def stop(self, seconds=60):
        return super().stop(seconds)

    def said(self):
        """Its own log."""
        path = self.folder / "home-assistant.log"
        return path.read_text(errors="replace") if path.exists() else ""

    async def up(self, seconds=240):
        """Until it answers; for the first time it makes its database, which takes long on a busy machine."""
        self.session = self.session or aiohttp.ClientSession()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.running:
                raise RuntimeError("it has ended: " + self.words()[-2000:])
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

    async def settle_in(self, broker, **account):
        """The first user, and the broker on this port; `account`: username and password."""
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
        answers = {"broker": "127.0.0.1", "port": broker, **account}
        # (From 2026 on the rest is a group of its own.)
        for field in flow["data_schema"]:
            if field.get("type") == "expandable" and field.get("required"):
                answers[field["name"]] = {
                    one["name"]: one.get("default", self.off(one)) for one in field["schema"] if one.get("required")}
        result = await self.call("POST", f"/api/config/config_entries/flow/{flow['flow_id']}", json=answers)
        if result.get("type") != "create_entry":
            raise RuntimeError(f"MQTT was not set up: {result}")

    @staticmethod
    def off(field):
        """The answer of somebody who wants nothing special: no, or the first choice."""
        options = field.get("selector", {}).get("select", {}).get("options", [])
        first = options[0] if options else False
        return first["value"] if isinstance(first, dict) else first

    async def renew(self):
        """Another token: after a restart."""
        tokens = await self.call("POST", "/auth/token", data={
            "client_id": self.client, "grant_type": "refresh_token", "refresh_token": self.refresh})
        self.token = tokens["access_token"]

    async def service(self, domain, name, **data):
        data = {key: self.ids.get(value, value) if key == "entity_id" else value for key, value in data.items()}
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
        for id_, new in event.get("a", {}).items():
            self.put(id_, new["s"], dict(new["a"]))
        for id_, change in event.get("c", {}).items():
            known = self.states.get(self.names.get(id_, id_), {"state": None, "attributes": {}})
            new, attributes = change.get("+", {}), known["attributes"]
            attributes.update(new.get("a", {}))
            for gone in change.get("-", {}).get("a", []):
                attributes.pop(gone, None)
            self.put(id_, new.get("s", known["state"]), attributes)
        for id_ in event.get("r", []):
            self.states.pop(self.names.get(id_, id_), None)

    def put(self, id_, state, attributes):
        """The name may change: until an entity of before a restart is there again, it is without the device's."""
        words = attributes.get("friendly_name", "")
        entity = f"{id_.split('.')[0]}.{re.sub('[^a-z0-9]+', '_', words.lower()).strip('_')}" if words else id_
        if self.names.get(id_, entity) != entity:
            self.states.pop(self.names[id_], None)
        self.names[id_], self.ids[entity] = entity, id_
        self.states[entity] = {"state": state, "attributes": attributes}
        self.past.append((entity, state, dict(attributes)))

    async def until(self, what, right, seconds=30):
        """Waits for a condition on what is known; fails with its name."""
        return await until(right, seconds, what, every=0.1)

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
