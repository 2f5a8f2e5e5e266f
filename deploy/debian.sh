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
