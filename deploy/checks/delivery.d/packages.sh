# shellcheck shell=bash
# Sourced, after lib.sh and debian.sh, by the checks of the delivery: packages of a next version, and all that Debian has
# to go along with them.
# shellcheck disable=SC2154  # view_options: of debian.sh

# version_after VERSION: one that is higher, of the same release.
version_after() { echo "${1%~deb*}+next~deb13"; }

# next_version PACKAGE.deb FOLDER: into FOLDER the same package with a higher version and other default settings.
next_version() {
    local name new work
    name=$(dpkg-deb -f "$1" Package) new=$(version_after "$(dpkg-deb -f "$1" Version)")
    work=$(mktemp -d "$2/next.XXXXXX")
    chmod 755 "$work"
    dpkg-deb -R "$1" "$work"
    sed -i "s/^Version: .*/Version: $new/" "$work/DEBIAN/control"
    find "$work" -name '*.yaml' -exec sed -i '$a # A line of the next version.' {} +
    rm -f "$work/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$work" "$2/${name}_${new}_next.deb" >/dev/null
    rm -rf "$work"
}

# fetch_along FOLDER ARCH ROOT PACKAGE.deb|NAME...: FOLDER/along, a repository of everything that Debian has of what these
# packages, and Debian's own of these names, want in ROOT, which has no network. Does nothing where it is there.
fetch_along() {
    local folder=$1 arch=$2 root=$3 file needs
    shift 3
    needs=$(for file; do if [ -f "$file" ]; then dpkg-deb -f "$file" Depends Recommends; else echo "$file"; fi; done && sha256sum <"$root/var/lib/dpkg/status")
    if [ "$(cat "$folder/along.needs" 2>/dev/null)" = "$needs" ]; then return; fi
    rm -rf "$folder/along" "$folder/along.needs"
    apt_view "$folder/apt" "$arch"
    cp "$root/var/lib/dpkg/status" "$folder/apt/state/status"
    rm -f "$folder/apt"/cache/archives/*.deb
    apt-get "${view_options[@]}" -y -qq --download-only install "$@" >/dev/null || skip "apt could not fetch what the packages depend on"
    mkdir -p "$folder/along"
    mv "$folder/apt"/cache/archives/*.deb "$folder/along/"
    rm -f "$folder/along"/seismote*
    (cd "$folder/along" && apt-ftparchive packages . >Packages)
    echo "$needs" >"$folder/along.needs"
}
