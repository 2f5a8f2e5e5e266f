# shellcheck shell=bash
# Sourced in the guest before a scenario: what scenarios do again and again. BOARD_CHECKS is this folder; the folder
# shared with the host, /board, has seismoted and, for scenarios with messages, broker (host and port).
#
# While something waits for the host (9p, the network), the guest is idle and its virtual clock runs on. So nothing that
# is timed may read from the host's root: programs are read into memory first, and what is written goes to /run.

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# still, busy: from here on the clock jumps over idle time, or does not. With systemd it must not while anything may be
# read from the host: all time limits would pass at once. It is busy at the start (see guest-init).
still() { kill "$(cat /run/busy)"; }
busy() {
    nice -n 19 bash -c 'while :; do :; done' &
    echo $! >/run/busy
}

# chips NAME=CHIP[,KEY=VALUE...]...: adapters with these chips, see emulator/__main__.py; sets chips_id. Their journals
# are in /run/chips.
chips() {
    mkdir -p /run/chips
    modprobe -a i2c-dev vhci-hcd i2c-tiny-usb cp210x
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

# The recording and the timetable of faults begin.
chips_begin() { kill -USR1 "$chips_id"; }

# Ends the chips; their journals go to the host.
chips_end() {
    kill "$chips_id"
    wait "$chips_id" || true
    cp /run/chips/*.json /run/chips/*.samples /board/
}

# bind NAME DEVICE: lets the kernel's own driver for DEVICE have that chip, and gives it a timer to pace it with.
bind() {
    local folder _
    modprobe -a st_accel_i2c mma8452 inv-mpu6050-i2c st_lsm6dsx_i2c iio-trig-hrtimer
    folder=/sys/bus/i2c/devices/i2c-$(bus_of "$1")
    echo "$2 $(address_of "$1")" >"$folder/new_device"
    for _ in $(seq 100); do
        compgen -G "$folder/*/iio:device*/in_accel_x_raw" >/dev/null && return
        sleep 0.1
    done
    say "$2: no accelerometer came of it"
    return 1
}

# device_of NAME: folder of the accelerometer that the kernel's driver has made of the chip
device_of() {
    dirname "$(compgen -G "/sys/bus/i2c/devices/i2c-$(bus_of "$1")/*/iio:device*/in_accel_x_raw" | head -1)"
}

# driver_of NAME: the kernel driver that has the chip
driver_of() { basename "$(readlink "$(device_of "$1")/../driver")"; }

# Reads seismoted and its libraries into memory.
load_agent() {
    cp /board/seismoted /run/seismoted
    ldd /run/seismoted | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' | xargs cat >/dev/null
    compgen -G '/usr/lib/*/libiio.so*' | xargs -r cat >/dev/null
}

# agent NAME SENSOR RATE [LINES]: starts an agent with that id; SENSOR is the inside of its `sensor`, LINES further
# settings. Every sample goes out as a trace, unless traced=false. Sets agent_id; its log is /run/NAME.log.
agent() {
    cat >"/run/$1.yaml" <<YAML
station: {id: $1}
sensor: {rate_hz: $3, range: 2 g, $2}
trace: {rate_hz: $3, signals: [raw], block_s: 1, enabled: ${traced:-true}}
waveform: {enabled: false}
health: {interval_s: 10}
log: {level: debug}
storage: {directory: "/run/$1.state"}
mqtt: {uri: "mqtt://$(cat /board/broker)", root: "$(cat /board/root)", keepalive_s: 3600}
${4:-}
YAML
    /run/seismoted --config "/run/$1.yaml" 2>"/run/$1.log" &
    # shellcheck disable=SC2034  # for the scenario
    agent_id=$!
}

# Sensor settings for chip NAME, by the two ways to read it
i2c_sensor() { echo "driver: i2c, i2c: {bus: $(bus_of "$1"), address: $(address_of "$1")}"; }
iio_sensor() { echo "driver: iio, iio: {device: \"$(basename "$(device_of "$1")")\"}"; }


# reading ID: waits until the process has the chip's device open
reading() {
    local _
    for _ in $(seq 300); do
        find "/proc/$1/fd" -lname '/dev/i2c-*' -o -lname '/dev/iio:*' 2>/dev/null | grep -q . && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    say "the agent does not read"
    return 1
}

# Ends agents by their ids; false if one had ended by itself.
agents_end() {
    local id result=0
    for id in "$@"; do
        kill "$id" 2>/dev/null || { say "agent $id has ended by itself"; result=1; }
        wait "$id" || { say "agent $id ended with $?"; result=1; }
    done
    return $result
}

# Nanoseconds on a processor, and times that it was waited for, of all threads of a process.
cost_now() {
    local run=0 switches=0 task ns rest name count
    for task in "/proc/$1/task"/*; do
        read -r ns rest <"$task/schedstat"
        run=$((run + ns))
        while read -r name count rest; do
            case $name in
                voluntary_ctxt_switches:) switches=$((switches + count)) ;;
            esac
        done <"$task/status"
    done
    echo "$run $switches $(cut -d' ' -f1 /proc/uptime | tr -d .)"
}

cost_begin() { cost_first=$(cost_now "$1"); }

# Prints, since cost_begin: processor time in ms and sleeps, both for each second.
cost_end() {
    echo "$cost_first $(cost_now "$1")" | awk '{
        seconds = ($6 - $3) / 100
        printf "%.3f %.2f %.0f\n", ($4 - $1) / 1e6 / seconds, ($5 - $2) / seconds, seconds
    }'
}
