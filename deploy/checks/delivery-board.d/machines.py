"""What both scenarios need around the board: a server of packages, and the sensor on it."""
import functools
import http.server
import io
import os
import tarfile
import threading

checks = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Packages(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(work, names):
    """These folders of `work`, by http on port 80."""
    site = os.path.join(work, "site-" + names[-1])
    os.makedirs(site)
    for name in names:
        os.symlink(os.path.join(work, name), os.path.join(site, name))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 80), functools.partial(Packages, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def sensor(board, work):
    """Solders the sensor on, so to say: an ADXL345 that is a program, which starts with the board from now on."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(os.path.join(checks, "board.d/emulator"), "emulator", filter=lambda one: None if "__pycache__" in one.name else one)
        archive.add(os.path.join(work, "world.csv"), "world.csv")
    board.put("/srv/sensor.tar.gz", packed.getvalue())
    board.run("cd /srv && tar xzf sensor.tar.gz && systemctl start chip && until [ -s /run/chips/ready ]; do sleep 0.2; done")
