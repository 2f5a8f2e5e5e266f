# shellcheck shell=bash
# Sourced, after lib.sh, debian.sh and board.d/kernel.sh, by deploy/checks/delivery-board: Debian 13 for arm64 as kernel,
# initramfs and disk, without Seismote, kept in the cache. Its packages are set up by mmdebstrap under emulation.
# shellcheck disable=SC2034,SC2154  # variables of the scripts named above

image=$cache/delivery-board
image_parts=$checks/delivery-board.d
# (dbus is on every board, and takes long to set up.)
# (python3 is for the sensor, whose chip is a program: deploy/checks/board.d/emulator.)
image_packages=systemd,systemd-sysv,udev,dbus,kmod,procps,python3,cloud-init

# make_image: $image/vmlinuz, $image/initrd, $image/base.qcow2 and $image/root, unless they are there and were made with
# the same packages and the same furnish.
make_image() {
    local made began=$SECONDS release
    made=$image_packages-$(cat "$image_parts/furnish" "$image_parts/image.sh" | sha256sum | cut -c -16)
    if [ "$(cat "$image/made" 2>/dev/null)" = "$made" ]; then return; fi
    rm -f "$image/made"
    mkdir -p "$image"
    fetch_board_kernel
    release=$(cat "$image/kernel/release")
    if [ "$(cat "$image/root.packages" 2>/dev/null)" != "$image_packages" ]; then
        say "Setting up Debian 13 for arm64 under emulation (once; five minutes)"
        rm -f "$image/root.packages"
        # (Of the names of all hardware nobody is in need here, and to sort them takes minutes.)
        root_maker=("$image_parts/with-arm64")
        make_root "$suite" "$image/root" "$image_packages" --architectures=arm64 --dpkgopt='path-exclude=/usr/share/doc/*' \
            --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/lib/udev/hwdb.d/*'
        root_maker=()
        # (What is left out here would be found missing after a purge.)
        rm -f "$image"/root/etc/dpkg/dpkg.cfg.d/*mmdebstrap*
        echo "$image_packages" >"$image/root.packages"
        say "Packages of the board: $((SECONDS - began)) s"
    fi
    "$image_parts/furnish" "$image/root"
    rm -rf "$image/root/usr/lib/modules"
    modules=(virtio_net virtio-rng i2c-dev industrialio iio-trig-hrtimer vhci-hcd i2c-tiny-usb vfat nls_cp437 nls_ascii)
    take_modules "$image/kernel/unpacked/usr/lib/modules/$release" "$image/root/usr/lib/modules/$release"
    # A sparse gigabyte.
    rm -f "$image"/base.*
    truncate -s 1G "$image/base.ext4"
    mke2fs -q -t ext4 -L board -d "$image/root" -E root_owner=0:0 "$image/base.ext4"
    qemu-img convert -O qcow2 "$image/base.ext4" "$image/base.qcow2"
    rm "$image/base.ext4"
    say "The board's disk: $(($(stat -c %s "$image/base.qcow2") / 1048576)) MiB; all $((SECONDS - began)) s"
    echo "$made" >"$image/made"
}

# fetch_board_kernel: Debian's own kernel, and an initramfs with no more than it takes to mount the disk (the one that
# initramfs-tools would make takes minutes under emulation, and boots 3 s longer).
fetch_board_kernel() {
    local package release unpacked=$image/kernel/unpacked start=$image/kernel/start
    if [ -s "$image/kernel/release" ]; then return; fi
    say "Fetching Debian 13's kernel for arm64 (once)"
    rm -rf "$image/kernel"
    mkdir -p "$unpacked" "$start"/{bin,dev,proc,sys,root}
    apt_view "$image/apt" arm64
    package=$(apt-cache "${view_options[@]}" depends linux-image-arm64 |
        sed -n 's/.*Depends: *\(linux-image-[0-9][^ :]*\).*/\1/p' | head -1)
    [ -n "$package" ] || fail "Debian 13 names no kernel for arm64"
    (cd "$image/kernel" && apt-get "${view_options[@]}" download -qq "$package" busybox-static >/dev/null) ||
        fail "could not fetch $package"
    dpkg-deb -x "$image/kernel/$package"_*.deb "$unpacked"
    dpkg-deb -x "$image/kernel"/busybox-static_*.deb "$image/kernel/busybox"
    rm "$image/kernel"/*.deb
    release=${package#linux-image-}
    if [ ! -d "$unpacked/usr/lib/modules" ]; then
        mkdir -p "$unpacked/usr/lib"
        mv "$unpacked/lib/modules" "$unpacked/usr/lib/"
    fi
    cp "$unpacked/boot/vmlinuz-$release" "$image/vmlinuz"
    find "$image/kernel/busybox" -type f -path '*bin/busybox' -exec cp {} "$start/bin/busybox" \;
    ln -s busybox "$start/bin/sh"
    # (ext4 names crc32c by a soft dependency only, and without it cannot mount.)
    modules=(virtio_pci virtio_blk crc32c_generic ext4)
    take_modules "$unpacked/usr/lib/modules/$release" "$start/lib/modules/$release"
    cat >"$start/init" <<'I'
#!/bin/busybox sh
busybox mount -t devtmpfs dev /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox modprobe -a virtio_pci virtio_blk crc32c_generic ext4
while ! [ -b /dev/vda ]; do busybox usleep 20000; done
busybox mount -t ext4 -o rw,noatime /dev/vda /root || exec busybox sh
for d in dev proc sys; do busybox mount -o move /$d /root/$d; done
exec busybox switch_root /root /sbin/init
I
    chmod +x "$start/init"
    (cd "$start" && find . | cpio --quiet -o -H newc) >"$image/initrd"
    echo "$release" >"$image/kernel/release"
}
