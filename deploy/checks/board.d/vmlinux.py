"""Takes the kernel itself out of a bzImage: QEMU boots it directly, without unpacking it in the emulated processor.

vmlinux.py BZIMAGE OUTPUT

The header is that of the kernel's Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, payload_offset and
payload_length at 0x248 and 0x24c, both counted from the end of the set-up code. The last four bytes of the payload are
its unpacked length.
"""

import struct
import subprocess
import sys

PACKERS = {b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"\x1f\x8b": "gzip"}


def main(image, output):
    with open(image, "rb") as file:
        data = file.read()
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = (data[0x1F1] + 1) * 512 + offset
    payload = data[start:start + length]
    for magic, packer in PACKERS.items():
        if payload.startswith(magic):
            break
    else:
        sys.exit(f"{image}: the kernel in it is packed in an unknown way ({payload[:4].hex()})")
    unpacked = subprocess.run([packer, "-dc"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
    (expected,) = struct.unpack("<I", payload[-4:])
    if len(unpacked) != expected:
        sys.exit(f"{image}: {len(unpacked)} bytes unpacked, not {expected}")
    with open(output, "wb") as file:
        file.write(unpacked)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
