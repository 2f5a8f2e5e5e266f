"""The command lines of deploy/docs/reference/commands.md, as they are written there, on a real station."""

import asyncio
import re

from asking import Asker, station


def read(path):
    """Each command line, with what follows after `# ->` on it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    part = text.split("## Command lines", 1)[1].split("\n## ", 1)[0]
    for line in part.splitlines():
        if re.match(r"    mosquitto_(pub|rr) ", line):
            yield line.strip()


async def shell(line):
    process = await asyncio.create_subprocess_shell(
        line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, executable="/bin/bash")
    try:
        out, _ = await asyncio.wait_for(process.communicate(), 30)
    except asyncio.TimeoutError:
        process.kill()
        return 124, "no answer in 30 s"
    return process.returncode, out.decode(errors="replace")


async def run(program, folder, broker, repository):
    name = "basement"
    agent = station(program, folder, name, broker.port)
    asker = await Asker(broker.port, name, 5).connect()
    agent.start()
    wrong = count = 0
    try:
        await asker.ready()
        for line in read(f"{repository}/deploy/docs/reference/commands.md"):
            count += 1
            asker.heard.clear()
            status, out = await shell(line.replace("-h BROKER", f"-h 127.0.0.1 -p {broker.port}"))
            if line.startswith("mosquitto_pub"):
                found = re.search(r'"id":"([^"]*)"', line).group(1)
                try:
                    await asker.until(lambda: any(reply.get("id") == found for _, reply in asker.heard), 15)
                    out = asker.heard[-1][0].payload.decode()
                except asyncio.TimeoutError:
                    out = "no reply"
            good = status == 0 and ('"phase":"done"' in out or '"phase":"accepted"' in out)
            # The simulated sensor has no self-test, this agent no alarm line and no updater, and the page's event is not one
            # of its own.
            without = any(f"/{verb} " in line for verb in ("selftest", "event", "label", "confirm-event", "silence", "alarm-test", "update"))
            good = good or (without and '"unavailable"' in out) or ("/update-confirm " in line and '"conflict"' in out)
            if not good:
                wrong += 1
                print(f"commands.md: {line}\n  gave {status}: {out[:400]}")
            if '/restart' in line:
                agent.process.wait()
                agent.start()
                asker.state.clear()
                await asker.ready()
            await asyncio.sleep(0.2)
    finally:
        await asker.close()
        agent.stop()
    print(f"commands.md: {count} lines, {wrong} do not work as written")
    return wrong + (count < 17)
