# shellcheck shell=bash
# Sourced, after lib.sh, by the checks that take packages of Debian 13 apart without installing them. apt looks at
# Debian 13 through a state of its own; the system's lists, cache and packages stay as they are.
#
# SEISMOTE_DEBIAN_MIRROR: a Debian mirror; default: the one that this machine's apt uses.

suite=trixie

mirror() {
    if [ -n "${SEISMOTE_DEBIAN_MIRROR:-}" ]; then
        echo "$SEISMOTE_DEBIAN_MIRROR"
        return
    fi
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m1 '/debian/\?$' ||
        fail "apt on this machine names no Debian mirror: set SEISMOTE_DEBIAN_MIRROR"
}

# apt_view FOLDER ARCH: sets view_options, for apt-get and apt-cache, and reads the lists of packages. Keeps in FOLDER
# what it needs.
apt_view() {
    mkdir -p "$1"/lists/partial "$1"/cache/archives/partial "$1"/state
    : >"$1/state/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" >"$1/sources.list"
    view_options=(
        -o "Dir::Etc::SourceList=$1/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$1/lists"
        -o "Dir::Cache=$1/cache" -o "Dir::State::status=$1/state/status"
        -o "APT::Architecture=$2" -o "APT::Architectures=$2" -o APT::Sandbox::User=root
    )
    apt-get "${view_options[@]}" update -qq >/dev/null || fail "could not read the package lists of Debian 13"
}

# make_root RELEASE FOLDER PACKAGE,PACKAGE… OPTION...: a root of that release of Debian with its essential packages, apt and
# these; whole or none. Where it cannot be made the caller fails, with what mmdebstrap said. Needs root. root_maker: a program
# and its first words that mmdebstrap is given to.
root_maker=()
make_root() {
    local release=$1 folder=$2 packages=$3
    shift 3
    rm -rf --one-file-system "$folder"
    # In the background, because a shell waits for what runs before it until it obeys a signal; and ended with the shell: in a
    # namespace of its own, since mmdebstrap, asked to end, waits for its apt.
    local made=0
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc "${root_maker[@]}" mmdebstrap --mode=root --variant=apt --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
        --include="$packages" --skip=output/dev --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$@" \
        "$release" "$folder" "$(mirror)" >"$folder.log" 2>&1 &
    wait $! || made=$?
    if [ $made != 0 ]; then
        tail -40 "$folder.log" >&2
        rm -rf --one-file-system "$folder"
        fail "mmdebstrap could not make a root of $release; its last words are above, all of them in $folder.log"
    fi
    # (What was for the making only.)
    rm -f "$folder/etc/apt/apt.conf.d/99mmdebstrap"
}

# package_root RELEASE: sets tools to a root of trixie or bookworm with debhelper, lintian and the libraries that the
# packages depend on, made in the cache where there is none. The folder's name carries the list of its packages, so that
# another tree with another list makes its own beside it and none is remade while somebody works in it. Needs root.
package_root() {
    local wanted=(debhelper lintian man-db binutils-aarch64-linux-gnu) page_packages library lock
    install package
    read -ra page_packages <<<"$(packages_for dashboard)"
    wanted+=("${page_packages[@]}")
    for library in libc6 libgcc-s1 libmosquitto1 libmseed2 libyaml-0-2 libjansson4 libsqlite3-0 libexpat1 librabbitmq4; do
        wanted+=("$library:amd64" "$library:arm64")
    done
    # shellcheck disable=SC2154  # of lib.sh
    mkdir -p "$cache/package"
    tools=$cache/package/$1-$(sha256sum <<<"${wanted[*]}" | cut -c -12)
    if [ -e "$tools.made" ]; then return; fi
    exec {lock}>"$tools.lock"
    flock "$lock"
    if ! [ -e "$tools.made" ]; then
        say "Making a root of $1 with debhelper and lintian (once; two minutes)"
        make_root "$1" "$tools" "$(IFS=, && echo "${wanted[*]}")" --architectures=amd64,arm64
        touch "$tools.made"
    fi
    exec {lock}>&-
}

# cluster_root: the path of a Debian 13 with its RabbitMQ 4 and NATS, made once. One check at a time may use it.
cluster_root() {
    local root=$cache/cluster-root
    if [ ! -e "$root/made" ]; then
        make_root trixie "$root" rabbitmq-server,nats-server --variant=minbase >&2 || return
        touch "$root/made"
    fi
    printf '%s\n' "$root"
}
