"""The brokers that a warning goes through: mosquitto, or three nodes of RabbitMQ with the accounts of deploy/fleet/rabbitmq."""

import json
import os

import kinds


class Mosquitto:
    """One of our own, which lets everybody do everything."""

    user = {}

    def __init__(self, folder):
        self.broker = kinds.Mosquitto(folder, "broker")
        self.folder = folder

    async def start(self):
        await self.broker.start()
        self.port = self.broker.port
        return self

    def accounts(self, names):
        pass

    def settings(self, name):
        """`mqtt` of a station."""
        return {"uri": f"mqtt://127.0.0.1:{self.port}"}

    def detector(self):
        """Options of `seismote network run`."""
        return ["--broker", f"mqtt://127.0.0.1:{self.port}", "--set", f"network.state={self.folder}/network"]

    def is_heard(self, log):
        """Whether what is published now reaches the detector: mosquitto keeps for it who the stations are."""
        return True

    def stop(self):
        self.broker.stop()


class RabbitMQ:
    """`root` is a tree of Debian 13 with RabbitMQ (deploy/checks/clusters). Stations and detector speak TLS and have accounts of
    their own; the detector's journal is a quorum queue. Observer and fleet may do everything."""

    user = {"user": "everybody", "password": "everybody-secret"}

    def __init__(self, folder, root):
        from rabbit import Cluster
        self.folder, self.cluster = folder, Cluster(root, folder)
        self.passwords = {}

    async def start(self):
        print(f"three nodes of RabbitMQ are up after {self.cluster.up():.0f} s", flush=True)
        self.cluster.everybody()
        self.port = self.cluster.ports["mqtt"][1]
        self.passwords["seismote-network"] = self.cluster.account("network", "seismote-network")
        return self

    def accounts(self, names):
        for name in names:
            self.passwords[name] = self.cluster.account("station", name)

    def settings(self, name):
        return {"uri": self.cluster.uris("mqtts"), "username": name, "password_file": self.passwords[name], "tls": {"ca_file": self.cluster.ca}}

    def detector(self):
        path = os.path.join(self.folder, "network.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"mqtt": self.settings("seismote-network"), "network": {"cluster": self.cluster.uris("amqps")}}, file)
        return ["--config", path]

    def is_heard(self, log):
        """What was published before the detector is at work it asks the stations for; those that are not real do not answer."""
        with open(log, encoding="utf-8") as file:
            return "at work as" in file.read()

    def stop(self):
        self.cluster.down()
