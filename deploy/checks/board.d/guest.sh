# shellcheck shell=bash
# Sourced in the guest before a scenario: what scenarios do again and again. BOARD_CHECKS is this folder.

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# chips NAME=CHIP[,KEY=VALUE...]...: adapters with these chips, see emulator/__main__.py; sets chips_id. Their journals
# are in /run/chips.
chips() {
    mkdir -p /run/chips
    modprobe -a i2c-dev vhci-hcd i2c-tiny-usb
    rm -f /run/chips/ready
    (cd /run/chips && PYTHONPATH=$BOARD_CHECKS PYTHONDONTWRITEBYTECODE=1 exec python3 -m emulator --ready /run/chips/ready "$@") &
    chips_id=$!
    until [ -s /run/chips/ready ]; do
        kill -0 "$chips_id" || exit 1
        sleep 0.05
    done
}

# bus_of NAME, address_of NAME: of a chip that was made
bus_of() { awk -v name="$1" '$1 == name { print $2 }' /run/chips/ready; }
address_of() { awk -v name="$1" '$1 == name { print $3 }' /run/chips/ready; }

# Ends the chips; their journals go to the host.
chips_end() {
    kill "$chips_id"
    wait "$chips_id" || true
    cp /run/chips/*.json /run/chips/*.samples /board/
}

# bind NAME DEVICE: lets the kernel's own driver for DEVICE have that chip. What its modules are called, the kernel knows.
bind() {
    modprobe -a st_accel_i2c mma8452 inv-mpu6050-i2c st_lsm6dsx_i2c
    echo "$2 $(address_of "$1")" >"/sys/bus/i2c/devices/i2c-$(bus_of "$1")/new_device"
}

# driver_of NAME: the kernel driver that has the chip
driver_of() {
    basename "$(readlink "/sys/bus/i2c/devices/$(bus_of "$1")-00$(address_of "$1" | cut -c3-)/driver")" 2>/dev/null || echo none
}
