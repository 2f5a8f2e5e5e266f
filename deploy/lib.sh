# shellcheck shell=bash
# Sourced by the scripts of this folder: where things are, plain messages, and the one list of Debian packages.

# The top of the repository, and a folder outside of it for what is slow to make and may be thrown away.
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${SEISMOTE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/seismote}
export repository cache

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}
# skip REASON: ends a check that cannot be made here, with a status of its own (as automake has it): it has not passed.
# A check that only leaves out a part says so itself, with a line "skipped: PART: REASON".
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# Debian packages by purpose; all of them exist under these names in Debian 12 and 13.
packages_for() {
    case $1 in
        build) echo git ca-certificates g++ libmosquitto-dev libmseed-dev libyaml-dev libjansson-dev libkissfft-dev libiio-dev \
            libsqlite3-dev libexpat1-dev librabbitmq-dev ;;
        swift) echo swiftlang ;;
        swift-libraries) echo libcurl4-openssl-dev libxml2-dev libncurses-dev libsqlite3-dev zlib1g-dev uuid-dev tzdata ;;
        try) echo mosquitto mosquitto-clients jq ;;
        dashboard) echo esbuild nodejs node-mqtt node-js-yaml node-buffer node-process node-events node-url ;;
        page-lint) echo nodejs node-typescript ;;
        browser) echo nodejs chromium-headless-shell fonts-dejavu-core mosquitto python3 python3-venv ;;
        firefox) echo firefox-esr pulseaudio ;;
        test) echo mosquitto mosquitto-clients openssl python3 shellcheck ;;
        check) echo mosquitto mosquitto-clients binutils procps ;;
        python) echo python3 python3-venv ;;
        site) echo python3 python3-venv jq ;;
        integrations) echo influxdb influxdb-client victoria-metrics postgresql postgresql-client python3-paho-mqtt python3-psycopg2 nodejs curl ;;
        network) echo mosquitto openssl python3 util-linux iproute2 nftables ;;
        nats) echo nats-server ;;
        feed) echo prometheus ;;
        join) echo e2fsprogs libfaketime jq openssl python3 python3-paho-mqtt strace ;;
        notify) echo curl libfaketime mosquitto python3 python3-venv tzdata util-linux ;;
        brokers) echo mosquitto ejabberd nats-server rabbitmq-server ;;
        unit) echo systemd systemd-sysv udev openssl mosquitto mosquitto-clients util-linux ;;
        board) echo qemu-system-x86 busybox-static i2c-tools libiio-utils iiod kmod cpio apt dpkg debian-archive-keyring xz-utils zstd python3 ;;
        setup) echo tmux qrencode openssl mosquitto mosquitto-clients diffutils iproute2 dbus avahi-daemon avahi-utils ;;
        delivery) echo mmdebstrap debian-archive-keyring systemd-container apt-utils gnupg curl mosquitto-clients procps util-linux python3 ;;
        delivery-board) echo mmdebstrap arch-test debian-archive-keyring apt-utils dpkg qemu-system-arm qemu-utils qemu-user-static \
            kmod cpio xz-utils zstd e2fsprogs dosfstools mtools iproute2 openssl mosquitto mosquitto-clients python3 util-linux ;;
        container) echo podman podman-compose runc golang-github-containernetworking-plugin-dnsname dnsmasq-base iptables mmdebstrap \
            debian-archive-keyring mosquitto-clients util-linux tar ;;
        container-arm64) echo arch-test qemu-user-static python3 ;;
        clean-root) echo mmdebstrap debian-archive-keyring systemd-container procps util-linux git tar ;;
        first-run) echo mmdebstrap debian-archive-keyring systemd-container procps util-linux git iproute2 iptables python3 ;;
        repository) echo reprepro gnupg dpkg ;;
        packages) echo qemu-user-static systemd git diffutils diffoscope-minimal ;;
        package-here) echo debhelper dpkg-dev fakeroot binutils man-db python3 ;;
        package) echo mmdebstrap debian-archive-keyring util-linux python3 ;;
        arm64) echo apt dpkg debian-archive-keyring qemu-user-static util-linux tar xz-utils zstd ;;
        *) fail "packages_for: no such purpose: $1" ;;
    esac
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "this needs root, and sudo is not there: run it as root, or install by hand what is named above"
    fi
}

# install PURPOSE...: those Debian packages that are not there yet. Says what it installs; silent if there is nothing.
install() {
    local purpose package wanted=() missing=()
    for purpose in "$@"; do
        read -ra wanted <<<"$(packages_for "$purpose")"
        for package in "${wanted[@]}"; do
            # (Debian's own state word: "ii " is installed and configured.)
            [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || missing+=("$package")
        done
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "needed, and without apt-get not to be installed from here: ${missing[*]}"
    # One at a time: checks run beside each other.
    local lock
    exec {lock}>"${TMPDIR:-/tmp}/seismote-apt.lock"
    flock "$lock"
    say "Installing Debian packages: ${missing[*]}"
    if ! apt_install "${missing[@]}"; then
        say "Bringing apt's list of packages up to date first"
        as_root apt-get update -qq >/dev/null || fail "apt-get update failed: is the network there?"
        apt_install "${missing[@]}" || fail "apt-get could not install ${missing[*]}${apt_reason:+: $apt_reason}"
    fi
    exec {lock}>&-
}

apt_install() {
    local status=0 log
    log=$(mktemp "${TMPDIR:-/tmp}/seismote-apt.XXXXXX")
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends "$@" \
        </dev/null >"$log" 2>&1 &
    local id=$! waited=0
    # Something to see: hundreds of megabytes take their time.
    while kill -0 "$id" 2>/dev/null; do
        sleep 1
        waited=$((waited + 1))
        if [ $waited = 3 ]; then sed -n 's/^Need to get /  to download: /p' "$log"; fi
        if [ $((waited % 20)) = 0 ]; then printf '  %d s: %s\n' $waited "$(tail -1 "$log" | cut -c1-100 | sed 's|[a-z]*://[^ ]*|…|g')"; fi
    done
    wait "$id" || status=$?
    # (Its addresses stay out of our logs.)
    apt_reason=$(sed -n 's|[a-z]*://[^ ]*|…|g; s/^E: //p; /^dpkg: error /{N;s/\n */ /;p}' "$log" | head -3 | paste -sd' ')
    rm -f "$log"
    return $status
}

# The complete reference data (17 records and what a correct agent makes of them) where it is beside the repository, as
# in continuous integration; nothing where it is not.
reference_folder() {
    local folder=${SEISMOTE_REFERENCE:-$repository/../shared/reference}
    if [ -f "$folder/params.json" ]; then (cd "$folder" && pwd); fi
}

# can_have_swift: fails where there is no Swift, and no package of it either: to be said before anything else is installed.
can_have_swift() {
    local version name
    command -v swift >/dev/null && return
    # shellcheck disable=SC1091  # a file of the system
    read -r version name < <(. /etc/os-release 2>/dev/null && echo "${ID:-}${VERSION_ID:-}" "${PRETTY_NAME:-this system}")
    [[ $version =~ ^debian([0-9]+)$ && ${BASH_REMATCH[1]} -ge 13 ]] ||
        fail "no 'swift' in PATH${SUDO_USER:+ (of root: sudo env PATH=\"\$PATH\" …)}: install Swift 6.3 (swift.org); Debian 13 has one as a package, ${name:-this system} has none"
}

# The Swift toolchain: Swift's own (6.0 or later) where it is in PATH, else Debian's package (13 and later have it).
need_swift() {
    if ! command -v swift >/dev/null; then
        can_have_swift
        install swift
    fi
    # (An archive of swift.org brings no libraries along, and knows no packages.)
    if lacks_libraries; then install swift-libraries; fi
    if lacks_libraries; then
        fail "the Swift in PATH wants libraries that are not here: $(missing_libraries | paste -sd' ')"
    fi
}

# swift_program NAME: the path of a program of the toolchain; Debian has only some of them in PATH.
swift_program() {
    local candidate
    for candidate in "$(dirname "$(readlink -f "$(command -v swift)")")" /usr/libexec/swift/bin; do
        if [ -x "$candidate/$1" ]; then
            echo "$candidate/$1"
            return
        fi
    done
    command -v "$1" || fail "the Swift in PATH has no program $1 beside it"
}

missing_libraries() {
    local program
    for program in swift-build swift-frontend clang ld.lld; do
        ldd "$(swift_program $program)" 2>/dev/null | awk '/not found/ { print $1 }'
    done | sort -u
}
lacks_libraries() { [ -n "$(missing_libraries)" ]; }

# need_python_packages NAME...: sets $python to an interpreter that has them, in an environment of its own in the cache.
# MODULE=PACKAGE where a package has another name than its module.
need_python_packages() {
    local name missing=() lock
    python=$cache/python/bin/python
    # One at a time: checks run beside each other.
    mkdir -p "$cache"
    exec {lock}>"$cache/python.lock"
    flock "$lock"
    [ -x "$python" ] || python3 -m venv "$cache/python" || fail "could not make a Python environment in $cache/python"
    for name in "$@"; do
        "$python" -c "import ${name%%=*}" 2>/dev/null || missing+=("${name#*=}")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        say "Installing Python packages into $cache/python: ${missing[*]}"
        "$python" -m pip install -q "${missing[@]}" >/dev/null 2>&1 || fail "pip could not install: ${missing[*]}"
    fi
    exec {lock}>&-
}

# find_python VERSION: the path of a working Python of this version, as a program or among those of pyenv.
find_python() {
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python3; do
        # (What pyenv puts into PATH is there for versions, too, that are not chosen.)
        if "$candidate" -c "import sys, venv, sqlite3, ssl; sys.exit(sys.version_info[:2] != (${1/./, }))" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# How programs are linked for use: the Swift libraries inside, the tables for unwinding the stack too, so that a crash leaves
# a stack to read. What comes from libraries is looked up at the start (-z now, so that the table of it is read-only from
# then on), and only where the system has its libraries (no RUNPATH). The build id is room for one: the linker would make it
# of the names of folders, too; deploy/package puts in the sum of the program's own bytes. What is here for memory alone
# brings at least 3 % of the agent's (peak, 20 950 KiB with TLS and storage; without it):
#   pack-relative-relocs    780 KiB more (a table that the loader reads; glibc 2.36, Debian 12, and later know this form)
#   --no-export-dynamic    1550 KiB more (nothing loads the programs as libraries)
#   libstdc++.a             740 KiB more (the few parts that Swift's runtime needs are inside, 70 KiB of file)
# (By a name below the package's folder: a program notes a hash of the command line that it was compiled with.)
static_folder=$repository/.build/static
release_flags=(--static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld -Xswiftc -L.build/static
    -Xlinker -z -Xlinker now
    # What no program uses is left out, though it is public in its room: 1 300 KiB of the agent's file.
    -Xswiftc -Xfrontend -Xswiftc -internalize-at-link -Xswiftc -Xfrontend -Xswiftc -function-sections
    -Xlinker "--build-id=0x$(printf '%040d' 0)" -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
    # Two builds of one commit by deploy/package, in whatever folders, give the same bytes. Symbols for the debugger name files,
    # and C of other packages does in its messages: without the folder of the source, and without that of the cache, where
    # checks build what others wrote (schedule.sh). They would name the compiler's cache of C modules, too, in a folder whose
    # name is a hash of the command line.
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs
    -Xswiftc -debug-prefix-map -Xswiftc "$repository=." -Xcc "-ffile-prefix-map=$repository=."
    -Xswiftc -debug-prefix-map -Xswiftc "$cache/release=./.build" -Xcc "-ffile-prefix-map=$cache/release=./.build")
export release_flags

# SwiftPM does not always stand being started twice in one folder, and checks run beside each other: one at a time.
swift_alone() {
    local lock status=0
    mkdir -p "$cache" "$static_folder"
    # The archive alone, so that the linker does not take the shared library that lies beside it.
    ln -sfn "$("$(swift_program clang)" -print-file-name=libstdc++.a)" "$static_folder/libstdc++.a"
    [ -e "$static_folder/libstdc++.a" ] || fail "the compiler of Swift finds no libstdc++.a: sudo apt install g++"
    exec {lock}>"$cache/swift.lock"
    if ! flock --nonblock "$lock"; then
        say "Waiting until another build on this machine has ended" >&2
        flock "$lock"
    fi
    swift "$@" {lock}>&- || status=$?
    exec {lock}>&-
    return $status
}

# Where SEISMOTE_BUILT and SEISMOTE_BUILT_TESTS are set (deploy/schedule.sh), all that checks need has been built before they
# began, and is not built again by each.

# released PRODUCT: builds that program as it is delivered, and prints its path.
released() {
    local folder
    if [ -n "${SEISMOTE_BUILT:-}" ]; then
        printf '%s/%s\n' "$SEISMOTE_BUILT" "$1"
        return
    fi
    need_swift >&2
    swift_alone build -c release "${release_flags[@]}" --product "$1" --quiet >&2 || return
    folder=$(swift_alone build -c release "${release_flags[@]}" --show-bin-path) || return
    printf '%s/%s\n' "$folder" "$1"
}

# built_tests: builds the tests, and prints the path of the program that runs them, for run_tests.
built_tests() {
    local folder
    if [ -n "${SEISMOTE_BUILT_TESTS:-}" ]; then
        printf '%s\n' "$SEISMOTE_BUILT_TESTS"
        return
    fi
    need_swift >&2
    swift_alone build --build-tests --quiet >&2 || return
    folder=$(swift_alone build --build-tests --show-bin-path) || return
    printf '%s/SeismotePackageTests.xctest\n' "$folder"
}

# The tests in parts that run beside each other (deploy/test, .ci/run), what fails soonest first: rooms, processes among
# which they are divided, load of each in hundredths of a processor. Rooms with a part of their own wait for something
# real; `others` are all those that no other line names.
# shellcheck disable=SC2034  # for deploy/test and schedule.sh
parts_of_tests='others 2 70
Agent 4 15
Tool|Fleet 3 25
Spool 2 40
MQTT 4 10'

# run_tests PROGRAM [FILTER]: as `swift test --filter`, beside whatever builds.
run_tests() { "$1" --testing-library swift-testing ${2:+--filter "$2"}; }

# benchmark NAME: builds that program of deploy/benchmarks and sets $program to it.
benchmark() {
    if [ -n "${SEISMOTE_BUILT:-}" ]; then
        program=$SEISMOTE_BUILT/$1
        return
    fi
    # shellcheck disable=SC2034  # for the caller
    program=$(SEISMOTE_BENCHMARKS=1 released "$1")
}

# hold_limits FILE MEASURED: fails where one of the lines `name value` of the text is beyond the limit that the file gives
# under the same name, or is not there.
hold_limits() {
    awk '
        FNR == NR { value[$1] = $2; next }
        /^ *#/ || NF < 2 { next }
        !($1 in value) { print "NOT MEASURED: " $1; bad = 1; next }
        value[$1] + 0 > $2 + 0 { print "BEYOND THE LIMIT: " $1 " is " value[$1] ", allowed " $2; bad = 1 }
        END { if (!bad) print "within the limits"; exit bad }
    ' <(printf '%s\n' "$2") "$1"
}

# declare_interface: sets SEISMOTE_CONTRACT to a file with the interface of this version, against which the Python client of
# the checks holds every message that it sees (deploy/checks/mqtt.d/contract.py). Empty: it does not.
declare_interface() {
    [ -z "${SEISMOTE_CONTRACT+set}" ] || return 0
    local tool
    tool=$(released seismote) || return
    mkdir -p "$repository/.build"
    SEISMOTE_CONTRACT=$repository/.build/interface-$BASHPID.json
    "$tool" interface asyncapi >"$SEISMOTE_CONTRACT" || return
    mv "$SEISMOTE_CONTRACT" "$repository/.build/interface.json"
    export SEISMOTE_CONTRACT=$repository/.build/interface.json
}

# run_python PYTHON FILE ARGUMENT...: the part of a check that is in Python. It finds the modules that all checks share, and
# servers, which Debian keeps out of a user's path. `python_inside`: what it is started inside of, such as a namespace.
python_inside=()
run_python() {
    declare_interface
    local command=(env "PATH=$PATH:/usr/sbin:/sbin" "PYTHONPATH=$repository/deploy/checks/mqtt.d${PYTHONPATH:+:$PYTHONPATH}" "${python_inside[@]}" "$1" -B "${@:2}")
    # In the background it takes the place of this shell's copy, so that a signal reaches it.
    if [ "$BASHPID" = $$ ]; then "${command[@]}"; else exec "${command[@]}"; fi
}

# Ends the processes of these ids, politely first; ids that are gone already are no error.
end_processes() {
    local id
    for id in "$@"; do kill "$id" 2>/dev/null || true; done
    for id in "$@"; do wait "$id" 2>/dev/null || true; done
}

# A TCP port on loopback that nobody listens on; none of those that the system gives to connections (from 32768 on), which
# could take it until it is used.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails after that time.
wait_for() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.1
    done
}

# Runs a program out of the terminal's reach (Ctrl-C goes to the script alone), ended by the kernel should the script be
# killed. For the background: start PROGRAM ARGUMENT... &
start() { exec setpriv --pdeathsig TERM setsid "$@"; }

# start_broker FOLDER [PAGE [ADDRESS]]: a mosquitto of our own on loopback, with its files in that folder; sets broker_id and
# broker_port. With the folder of a page it serves that too, with MQTT over WebSockets, on web_port. Whoever calls it
# ends it. With certificate.pem and key.pem in FOLDER it speaks TLS.
start_broker() {
    broker_port=$(free_port)
    cat >"$1/mosquitto.conf" <<CONF
listener $broker_port 127.0.0.1
allow_anonymous true
persistence false
user $(id -un)
CONF
    if [ -e "$1/certificate.pem" ]; then
        printf 'certfile %s\nkeyfile %s\n' "$1/certificate.pem" "$1/key.pem" >>"$1/mosquitto.conf"
    fi
    if [ $# -gt 1 ]; then
        web_port=$(free_port)
        cat >>"$1/mosquitto.conf" <<CONF
listener $web_port ${3:-127.0.0.1}
protocol websockets
socket_domain ipv4
http_dir $2
set_tcp_nodelay true
CONF
    fi
    PATH=$PATH:/usr/sbin:/sbin start mosquitto -c "$1/mosquitto.conf" >"$1/mosquitto.log" 2>&1 &
    # shellcheck disable=SC2034  # for the caller
    broker_id=$!
    wait_for 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$broker_port" || fail "mosquitto did not start: $(cat "$1/mosquitto.log")"
}
