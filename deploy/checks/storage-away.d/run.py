"""run.py AGENT FOLDER MOUNTS: see deploy/checks/storage-away. MOUNTS: 0 where nothing can be mounted."""

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from agent import Agent
from keeping import Reader
from kinds import Mosquitto
from readings import Readings, seconds
from verdict import verdict, within

# Within which it has to be said.
LIMIT = 60


class Account(Readings):
    """Notes the traces before which samples are missing."""

    def __init__(self, station):
        super().__init__(station)
        self.gaps = []

    def json(self, stream, object_, message, late):
        if stream == "trace" and object_["gap"] and object_["seq"]:
            self.gaps.append((object_["boot"], object_["seq"]))
        super().json(stream, object_, message, late)


class Station(Agent):
    """One that has its storage taken away; `code`: of the alert that is due."""

    code = "storage_taken"

    def __init__(self, program, folder, port):
        super().__init__(program, folder, type(self).__name__.lower(), {"mqtt": {"uri": f"mqtt://127.0.0.1:{port}"}})
        self.disk = self.settings["storage"]["directory"]
        self.file = os.path.join(self.disk, "spool.db")
        self.taken = 0.0

    def take(self):
        raise NotImplementedError

    def give_back(self):
        pass

    def said(self, words):
        """Since 1970, when the log has these words; None: not since the storage was taken."""
        times = [seconds(time) for time in re.findall(rf"^(\S+Z) \S+ {words}", self.words(), re.M)]
        return next((time for time in times if time > self.taken), None)


class FolderDeleted(Station):
    def take(self):
        shutil.rmtree(self.disk)


class FileTruncated(Station):
    def take(self):
        os.truncate(self.file, 0)


class DiskFull(Station):
    code = "storage_failed"

    def __init__(self, program, folder, port):
        super().__init__(program, folder, port)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", self.disk], check=True)

    def take(self):
        with open(os.path.join(self.disk, "full"), "wb", buffering=0) as file:
            try:
                for size in (65536, 512):
                    while file.write(bytes(size)) == size:
                        pass
            except OSError:
                pass

    def give_back(self):
        os.remove(os.path.join(self.disk, "full"))


class DiskReadOnly(Station):
    code = "storage_failed"

    def take(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", self.disk], check=True)

    def give_back(self):
        subprocess.run(["umount", self.disk], check=True)


class BitFlipped(Station):
    """Not until its agent has been killed."""

    def take(self):
        pass

    def flip(self):
        with open(self.file + "-wal", "r+b") as file:
            frames = (os.fstat(file.fileno()).st_size - 32) // 4120
            place = 32 + frames // 2 * 4120 + 1024
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1]))
        return frames


async def main(program, folder, mounts):
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # the reader's broker ends: that is no news
    broker = Mosquitto(folder, persistent=True)
    await broker.start()
    kinds = [FolderDeleted, FileTruncated]
    kinds += [DiskFull, DiskReadOnly] if int(mounts) else []
    away = [kind(program, folder, broker.port) for kind in kinds]
    flipped = BitFlipped(program, folder, broker.port)
    agents = away + [flipped]
    reader = Reader(broker, [agent.station for agent in agents])
    readings = [Account(agent.station) for agent in agents]
    reader.readings = {agent.station: one for agent, one in zip(agents, readings)}
    await reader.ready.wait()
    problems = []
    for agent in agents:
        agent.start()
    if not await within(lambda: all(one.ended for one in readings), 30):
        problems.append("no event has come before anything was taken away")
    # From here on all that is essential waits, in memory and on the disk.
    broker.stop(signal.SIGTERM)
    await asyncio.sleep(9)
    for agent in away:
        agent.taken = time.time()
        agent.take()
    await within(lambda: all(agent.said(f"alert {agent.code}:") for agent in away), LIMIT, every=0.2)
    for agent in away:
        agent.give_back()
    given = time.time()
    await within(lambda: all(agent.said(f"alert {agent.code} solved") for agent in away), LIMIT + 10, every=0.2)
    delays = []
    for agent in away:
        said, solved = agent.said(f"alert {agent.code}:"), agent.said(f"alert {agent.code} solved")
        if not agent.running:
            problems.append(f"{agent.station}: the agent has ended with {agent.process.returncode}")
        if said is None or said - agent.taken > LIMIT:
            problems.append(f"{agent.station}: no alert {agent.code} within {LIMIT} s")
        elif solved is None:
            problems.append(f"{agent.station}: the alert {agent.code} did not end")
        else:
            delays.append((said - agent.taken, solved - (agent.taken if agent.code == "storage_taken" else given)))
        if not os.path.exists(agent.file):
            problems.append(f"{agent.station}: there is no new database")
    # One event more, for the new files.
    await asyncio.sleep(11)
    for agent in agents:
        if agent.running:
            agent.kill()
    frames = flipped.flip()
    await broker.start()
    for agent in agents:
        agent.start()
    await within(lambda: all(
        one.health and not one.health[-1][1]["outbox"]["messages"] and not one.onsets - set(one.ended) for one in readings), 25)
    await asyncio.sleep(2)
    if flipped.said("alert storage_set_aside:") is None:
        problems.append(f"{flipped.station}: nothing was said of the flipped bit")
    messages = events = 0
    for agent, one in zip(agents, readings):
        came, missing, _ = one.account("trigger")
        messages, events = messages + came, events + len(one.ended)
        if missing:
            problems.append(f"{agent.station}: event messages {one.holes('trigger')} are missing")
        if len(one.ended) < 5:
            problems.append(f"{agent.station}: {len(one.ended)} events: nothing was tried")
        problems += [f"{agent.station}: {name} has no end" for name in sorted(one.onsets - set(one.ended))]
        problems += [f"{agent.station}: the waveform of {name}: {why}" for name, why in one.broken_waveforms()]
        if one.gaps:
            problems.append(f"{agent.station}: gaps in sampling before traces {one.gaps}")
    print(f"{len(away)} ways to lose the storage: said after at most {max((d[0] for d in delays), default=0):.1f} s, over after "
          f"{max((d[1] for d in delays), default=0):.1f} s; a bit flipped in a log of {frames} pages; {events} events, "
          f"{messages} event messages, without gaps")
    for agent in agents:
        agent.stop()
    reader.close()
    broker.stop()
    return verdict(problems)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
