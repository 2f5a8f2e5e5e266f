"""An arm64 board in QEMU, driven by a script: start, run commands in it, reboot, pull the plug."""
import base64
import os
import signal
import socket
import subprocess
import time


class Board:
    """The board of image.sh: what it writes goes into a disk of its own in `folder`."""

    def __init__(self, image, folder, processors=2, memory=512, cloud=False):
        """`cloud`: cloud-init does what it finds on the boot partition."""
        os.makedirs(folder, exist_ok=True)
        self.options = "" if cloud else "cloud-init=disabled "
        self.image, self.folder, self.processors, self.memory = image, folder, processors, memory
        self.disk, self.console = os.path.join(folder, "disk.qcow2"), os.path.join(folder, "console.log")
        # The boot partition, which another computer can read and write while the board is off.
        self.boot = os.path.join(folder, "boot.img")
        with open(self.boot, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.vfat", "-n", "BOOT", self.boot], check=True, stdout=subprocess.DEVNULL)
        self.process = self.shell = None
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", os.path.join(image, "base.qcow2"), "-F", "qcow2", self.disk], check=True)

    def start(self, limit):
        """Switches it on and waits for its shell; its own seconds since the start of the kernel."""
        shell = os.path.join(self.folder, "shell")
        if os.path.exists(shell):
            os.remove(shell)
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "cortex-a72", "-accel", "tcg,thread=multi,tb-size=512",
            "-smp", str(self.processors), "-m", str(self.memory), "-nodefaults", "-display", "none",
            "-kernel", os.path.join(self.image, "vmlinuz"), "-initrd", os.path.join(self.image, "initrd"),
            "-append", f"{self.options}console=ttyAMA0 quiet loglevel=3 mitigations=off audit=0 systemd.show_status=no panic=5",
            "-chardev", f"file,id=console,path={self.console},append=on", "-serial", "chardev:console",
            # Not cache=unsafe: each flush of the guest is handed on, and the plug takes what a real one would.
            "-drive", f"file={self.disk},format=qcow2,cache=writeback,if=none,id=disk", "-device", "virtio-blk-pci,drive=disk",
            "-drive", f"file={self.boot},format=raw,cache=writeback,if=none,id=boot", "-device", "virtio-blk-pci,drive=boot",
            "-device", "virtio-rng-pci", "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=",
            "-chardev", f"socket,id=shell,path={shell},server=on,wait=off", "-device", "virtio-serial-pci", "-device", "virtconsole,chardev=shell",
        ], stdin=subprocess.DEVNULL)
        while True:
            try:
                self.shell = socket.socket(socket.AF_UNIX)
                self.shell.connect(shell)
                break
            except OSError:
                self.shell.close()
                if self.process.poll() is not None:
                    raise SystemExit(f"QEMU ended with {self.process.returncode}") from None
                time.sleep(0.05)
        self.unread = b""
        return self.ready(limit)

    def line(self, limit):
        deadline = time.monotonic() + limit
        while b"\n" not in self.unread:
            self.shell.settimeout(max(0.01, deadline - time.monotonic()))
            got = self.shell.recv(1 << 16)
            if not got:
                raise EOFError("the board is off")
            self.unread += got
        line, self.unread = self.unread.split(b"\n", 1)
        return line.decode().split()

    def ready(self, limit):
        """Waits until the shell says that it is there."""
        while True:
            word, *rest = self.line(limit) or [""]
            if word == "ready":
                return float(rest[0])

    def attempt(self, script, limit=600):
        """Runs a bash script as root: exit status, and what it said."""
        self.shell.sendall(base64.b64encode(script.encode()) + b"\n")
        while True:
            word, *rest = self.line(limit) or [""]
            if word == "done":
                return int(rest[0]), base64.b64decode(rest[1] if len(rest) > 1 else "").decode(errors="replace").strip("\n")

    def run(self, script, limit=600):
        """Runs a script that has to succeed; what it said."""
        status, words = self.attempt(script, limit)
        if status:
            raise SystemExit(f"NOT SO: exit status {status} of: {script}\n{words}")
        return words

    def put(self, path, content):
        """Writes a file."""
        self.run(f"mkdir -p {os.path.dirname(path)}; base64 -d >{path} <<'E'\n{base64.b64encode(content).decode()}\nE")

    def reboot(self, limit):
        self.shell.sendall(base64.b64encode(b"systemctl reboot") + b"\n")
        return self.ready(limit)

    def off(self, limit):
        """Switches it off in an orderly way."""
        self.shell.sendall(base64.b64encode(b"systemctl poweroff") + b"\n")
        self.process.wait(limit)
        self.cut()

    def cut(self):
        """Pulls the plug."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.shell:
            self.shell.close()
        self.process = self.shell = None
