"""home.py ENVIRONMENT FOLDER PORT BROKER USER PASSWORD: a Home Assistant on that broker. Prints a line of JSON with what it has
of stations and the network each time that this changes, until it is ended."""

import asyncio
import json
import os
import signal
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "home-assistant.d"))

from hass import HomeAssistant  # noqa: E402


async def main():
    environment, folder, port, broker, user, password = sys.argv[1:]
    home = HomeAssistant(environment, folder, int(port))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    home.start()
    try:
        await home.up()
        await home.settle_in(int(broker), username=user, password=password)
        print(json.dumps({"up": True}), flush=True)
        last = None
        while True:
            devices = {one["id"]: one["name"] for one in await home.ask("config/device_registry/list") if one["manufacturer"] == "Seismote"}
            entities = {one["entity_id"]: devices[one["device_id"]] for one in await home.ask("config/entity_registry/list")
                        if one["device_id"] in devices and not one["disabled_by"]}
            states = {one["entity_id"]: one["state"] for one in await home.call("GET", "/api/states")}
            found = {name: {entity: states.get(entity) for entity, device in entities.items() if device == name} for name in devices.values()}
            if found != last:
                print(json.dumps({"devices": found}), flush=True)
                last = found
            await asyncio.sleep(1)
    finally:
        await home.leave()
        home.stop()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        pass
