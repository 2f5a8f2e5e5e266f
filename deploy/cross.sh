# shellcheck shell=bash
# Sourced, after lib.sh and debian.sh: cross-builds the package for arm64 on an x86-64 machine with Debian 13's own Swift,
# in two folders of unpacked Debian 13 packages in the cache (no maintainer script runs, nothing is emulated):
#   host    amd64: Debian's swiftlang 6.0.3, the cross compiler, run in a chroot
#   target  arm64: Debian's swiftlang and -dev packages, what the compiler compiles and links against
# Needs root (chroot and a private mount namespace), 5 GB of disk, the first time 1 GB of download.
# shellcheck disable=SC2154  # variables of lib.sh and debian.sh

host_packages=(bash coreutils sed grep findutils git ca-certificates swiftlang gcc g++ libc6-dev)
read -ra libraries <<<"$(packages_for build)"
target_packages=(swiftlang gcc g++ libc6-dev "${libraries[@]}")
swift=/usr/libexec/swift # where Debian's swiftlang keeps itself
root=$cache/arm64
host=$root/host
target=$root/target
build=$root/build
# unpack ARCH FOLDER PACKAGE...: these packages and all they depend on. Does nothing if the folder has them already.
unpack() {
    local arch=$1 folder=$2 link deb count=0
    shift 2
    if [ "$(cat "$folder.packages" 2>/dev/null)" = "$*" ]; then return; fi
    say "Fetching and unpacking Debian 13 packages for $arch (once; some minutes)"
    apt_view "$root/apt/$arch" "$arch"
    rm -f "$root/apt/$arch"/cache/archives/*.deb
    apt-get "${view_options[@]}" -y -qq --no-install-recommends --download-only install base-files dash "$@" \
        >/dev/null || fail "could not fetch: $*"
    # the merged /usr of Debian 13, which maintainer scripts would have made
    mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$folder"/{tmp,root,etc,dev,proc,sys,run,build,var/tmp}
    chmod 1777 "$folder/tmp"
    for link in bin sbin lib lib64; do
        [ -e "$folder/$link" ] || ln -s "usr/$link" "$folder/$link"
    done
    for deb in "$root/apt/$arch"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$folder" \
            --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*'
        rm -f "$deb"
        count=$((count + 1))
    done
    [ -e "$folder/bin/sh" ] || ln -s dash "$folder/bin/sh"
    [ -s "$folder/etc/passwd" ] || echo 'root:x:0:0:root:/root:/bin/sh' >"$folder/etc/passwd"
    [ -s "$folder/etc/group" ] || echo 'root:x:0:' >"$folder/etc/group"
    echo "$*" >"$folder.packages"
    say "$arch: $count packages"
}

# --- cross-building -----------------------------------------------------------------------------------------------

# cross static|dynamic ARGUMENT...: swift build for arm64 with these further arguments. Static puts the Swift libraries
# into the program, and the source has one place whatever folder it is in: a program notes a hash of the command line that it
# was compiled with. Tests need dynamic, and the repository at its own path, so that the paths that they are compiled with
# hold outside.
cross() {
    local kind=$1 resources=$swift/lib/swift flags='' source=$repository scratch=$build/$1 made=$build/$1
    shift
    local arguments=("$@")
    if [ "$kind" = static ]; then
        resources=$swift/lib/swift_static flags='"-static-stdlib", '
        arguments=(--static-swift-stdlib "$@")
        source=/usr/src/seismote made=/usr/src/seismote-build
    fi
    cat >"$host/root/$kind.json" <<JSON
{
  "version": 1, "target": "aarch64-unknown-linux-gnu", "sdk": "/arm64", "toolchain-bin-dir": "$swift/bin",
  "extra-cc-flags": ["--sysroot=/arm64"], "extra-cpp-flags": ["--sysroot=/arm64"],
  "extra-swiftc-flags": [
    "-sdk", "/arm64", "-resource-dir", "/arm64$resources", $flags"-use-ld=lld",
    "-Xclang-linker", "--sysroot=/arm64", "-Xcc", "--sysroot=/arm64"
  ]
}
JSON
    # Where git is set to take packages from a folder of this machine, that folder is seen inside too.
    local packages
    packages=$(git config --get-regexp '^url\./.*\.insteadof' | sed -n 's#^url\.\(/.*\)\.insteadof .*#\1#p' | head -1 || true)
    mkdir -p "$host/arm64" "$host$source" "$host$made" "$scratch" ${packages:+"$host$packages"}
    cp /etc/resolv.conf "$host/etc/resolv.conf" 2>/dev/null || true
    # One at a time, as swift_alone has it: checks run beside each other.
    local lock status=0
    exec {lock}>"$cache/swift.lock"
    flock "$lock"
    # shellcheck disable=SC2016  # the inner shell's own variables
    unshare --mount bash -euc '
        host=$1 target=$2 repository=$3 scratch=$4 packages=$5 kind=$6 path=$7 source=$8 made=$9
        shift 9
        mount --make-rprivate /
        mount --bind "$target" "$host/arm64"
        mount --bind "$repository" "$host$source"
        mount --bind "$scratch" "$host$made"
        mount --bind /dev "$host/dev"
        mount --bind /proc "$host/proc"
        rewrite=()
        if [ -n "$packages" ]; then
            mount --bind "$packages" "$host$packages"
            rewrite=("GIT_CONFIG_KEY_1=url.$packages.insteadOf" GIT_CONFIG_VALUE_1=https://github.com/)
        fi
        exec chroot "$host" /usr/bin/env -i "PATH=$path/bin:/usr/bin:/bin" HOME=/root LANG=C.UTF-8 \
            GIT_CONFIG_COUNT=$((${#rewrite[@]} / 2 + 1)) GIT_CONFIG_KEY_0=safe.directory "GIT_CONFIG_VALUE_0=*" \
            "${rewrite[@]}" swift-build --package-path "$source" --scratch-path "$made" \
            --destination "/root/$kind.json" "$@"
    ' cross "$host" "$target" "$repository" "$scratch" "$packages" "$kind" "$swift" "$source" "$made" "${arguments[@]}" {lock}>&- || status=$?
    exec {lock}>&-
    return $status
}

# emulated PROGRAM ARGUMENT...: an arm64 program; libraries come from the target folder, all other files are this
# machine's, so that the tests find the repository, and its mosquitto.
emulated() {
    qemu-aarch64-static -L "$target" -E "LD_LIBRARY_PATH=$swift/lib/swift/linux" "$@"
}

# cross_prepare: both folders.
cross_prepare() {
    [ "$(uname -m)" = x86_64 ] || skip "cross-building is written for x86-64 machines; on arm64 build there"
    [ "$(id -u)" = 0 ] || skip "chroot and mounts need root: sudo $0"
    install arm64
    mkdir -p "$root"
    unpack amd64 "$host" "${host_packages[@]}"
    unpack arm64 "$target" "${target_packages[@]}"
    mkdir -p "$target/static"
    ln -sfn "$(cd "$target/static" && echo ../usr/lib/gcc/aarch64-linux-gnu/*/libstdc++.a)" "$target/static/libstdc++.a"
}

# cross_released PRODUCT: builds that program as it is delivered, and prints its path. Linked as `released` does it, with
# older-glibc.s, so that it runs on Debian 12 too.
cross_released() {
    local program=$build/static/aarch64-unknown-linux-gnu/release/$1 flags=() flag
    # (Whoever takes this function's output has switched `set -e` off in it.)
    emulated "$target/usr/bin/aarch64-linux-gnu-as" -o "$host/root/older-glibc.new" "$repository/deploy/older-glibc.s" >&2 || return
    # SwiftPM does not see that this file has changed.
    cmp -s "$host/root/older-glibc.new" "$host/root/older-glibc.o" || rm -f "$program"
    mv "$host/root/older-glibc.new" "$host/root/older-glibc.o"
    for flag in "${release_flags[@]:1}"; do
        case $flag in
            -L.build/static) flags+=(-L/arm64/static) ;;
            *) flags+=("$flag") ;;
        esac
    done
    cross static -c release --product "$1" --quiet "${flags[@]}" -Xlinker /root/older-glibc.o >&2 || return
    printf '%s\n' "$program"
}
