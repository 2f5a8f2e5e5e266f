# shellcheck shell=bash
# Run in the room: has a station publish all kinds of messages, and prints what a subscriber sees of each topic (its QoS),
# then what the broker keeps, then state/info.
mosquitto_sub -h localhost -q 1 -t '#' -F 'seen %q %t' &
watcher=$!
# (Its first whole interval is in time for the end.)
seismote ctl set basement vibration.enabled=true vibration.band=own vibration.upper_hz=30 vibration.interval_s=10 \
    >/dev/null 2>&1
sleep 20
{
    seismote ctl log basement --level debug --duration 1
    seismote ctl test-event basement
    seismote ctl stream basement --duration 2
    seismote ctl snapshot basement --last 5 -o snapshot.mseed
    # An alert: a change that nobody confirms.
    seismote ctl set basement trace.rate_hz=10 --auto-revert 1 --leave-pending
    sleep 3
} >/dev/null 2>&1
kill $watcher
mosquitto_sub -h localhost -q 1 -t '#' --retained-only -F 'kept %q %t' -W 2
mosquitto_sub -h localhost -t seismote/basement/state/info -C 1 -W 5 -F 'info %p'
