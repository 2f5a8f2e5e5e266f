# shellcheck shell=bash
# Sourced, after lib.sh and debian.sh: Debian 13's own kernel for the virtual board, taken out of its package once and
# kept in the cache, and an initramfs with the modules that the board needs. Nothing is installed.
# shellcheck disable=SC2154  # variables of lib.sh, debian.sh and of the script itself (checks: this folder)

board=$cache/board
kernel=$board/kernel

# In this order they are also what the guest's `modprobe` finds; what they depend on comes with them.
modules=(
    9pnet_virtio 9p overlay virtio_pci virtio_net veth
    i2c-dev vhci-hcd i2c-tiny-usb
    configfs industrialio iio-trig-hrtimer iio-trig-sysfs
    st_accel_i2c mma8452 inv-mpu6050-i2c st_lsm6dsx_i2c bmi160_i2c adxl345_i2c adxl313_i2c adxl355_i2c
    cp210x
)

# fetch_kernel: makes $kernel/vmlinux, $kernel/release and $kernel/root/lib/modules, unless they are there.
fetch_kernel() {
    # One that was taken for fewer modules is taken again.
    if [ -s "$kernel/release" ] && [ "$(cat "$kernel/modules" 2>/dev/null)" = "${modules[*]}" ]; then return; fi
    local package work=$board/unpacked
    say "Fetching Debian 13's kernel (once)"
    rm -rf "$kernel" "$work"
    mkdir -p "$kernel" "$work"
    apt_view "$board/apt" amd64
    package=$(apt-cache "${view_options[@]}" depends linux-image-amd64 |
        sed -n 's/.*Depends: *\(linux-image-[0-9][^ :]*\).*/\1/p' | head -1)
    [ -n "$package" ] || fail "Debian 13 names no kernel for amd64"
    (cd "$work" && apt-get "${view_options[@]}" download -qq "$package" >/dev/null) || fail "could not fetch $package"
    dpkg-deb --fsys-tarfile "$work/$package"_*.deb | tar -x -C "$work"
    local release=${package#linux-image-} tree
    tree=$work/lib/modules/$release
    [ -d "$tree" ] || tree=$work/usr/lib/modules/$release
    python3 "$checks/vmlinux.py" "$work/boot/vmlinuz-$release" "$kernel/vmlinux"
    take_modules "$tree" "$kernel/root/lib/modules/$release"
    rm -rf "$work"
    echo "${modules[*]}" >"$kernel/modules"
    echo "$release" >"$kernel/release"
}

# take_modules FROM TO: the modules named above and all that they need, uncompressed: to unpack them in the emulated
# processor would take seconds. Names that this kernel has not are left out.
take_modules() {
    local from=$1 to=$2 name file
    mkdir -p "$to"
    cp "$from"/modules.{builtin,builtin.modinfo,order} "$to/"
    depmod -b "${from%/lib/modules/*}" "${from##*/}"
    for name in "${modules[@]}"; do
        sed -n "s#^\(.*/${name//[-_]/[-_]}\.ko[^:]*\):#\1#p" "$from/modules.dep"
    done | tr ' ' '\n' | grep . | sort -u | while read -r file; do
        mkdir -p "$to/$(dirname "$file")"
        case $file in
            *.xz) xz -dc "$from/$file" >"$to/${file%.xz}" ;;
            *.zst) zstd -qdc "$from/$file" >"$to/${file%.zst}" ;;
            *) cp "$from/$file" "$to/$file" ;;
        esac
    done
    depmod -b "${to%/lib/modules/*}" "${to##*/}"
}

# make_gpio_sim: adds gpio-sim, the kernel's simulator of GPIO chips, to the modules. Debian leaves it out: it is compiled from
# Debian's source of this very kernel, in a Debian 13 that is thrown away (300 MB to fetch, two minutes, once).
make_gpio_sim() {
    local release root work=$board/gpio-sim
    release=$(cat "$kernel/release")
    local module=$kernel/root/lib/modules/$release/extra/gpio-sim.ko
    if [ -s "$module" ]; then return; fi
    say "Compiling gpio-sim for Debian 13's kernel (once)"
    rm -rf "$work"
    root=$work/root
    mkdir -p "$work/source"
    # shellcheck disable=SC2154  # suite: of debian.sh
    make_root "$suite" "$root" "linux-headers-$release,gcc-14,make"
    apt_view "$board/apt" amd64
    (cd "$work/source" && apt-get "${view_options[@]}" download -qq "linux-source-${release%%.*}.$(cut -d. -f2 <<<"$release")" \
        >/dev/null) || fail "could not fetch the kernel's source"
    local names=(drivers/gpio/gpio-sim.c kernel/irq/irq_sim.c)
    dpkg-deb --fsys-tarfile "$work"/source/*.deb | tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc |
        tar -x -C "$work/source" --strip-components=1 --wildcards "${names[@]/#/*/}"
    mkdir "$root/module"
    cp "$work/source/drivers/gpio/gpio-sim.c" "$root/module/chip.c"
    # What the kernel itself may call and a module may not, by a detour.
    sed 's/irq_to_desc(irqnum)/irq_data_to_desc(irq_get_irq_data(irqnum))/' "$work/source/kernel/irq/irq_sim.c" \
        >"$root/module/irq.c"
    printf 'obj-m := gpio-sim.o\ngpio-sim-y := chip.o irq.o\n' >"$root/module/Kbuild"
    chroot "$root" make -s CC=gcc-14 -C "/usr/src/linux-headers-$release" M=/module modules >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "gpio-sim could not be compiled"; }
    mkdir -p "${module%/*}"
    strip --strip-debug -o "$module" "$root/module/gpio-sim.ko"
    depmod -b "$kernel/root" "$release"
    rm -rf "$work"
}

# make_initramfs: $kernel/initramfs from the modules, busybox and guest-init as it is now (0.2 s).
make_initramfs() {
    local root=$kernel/root
    mkdir -p "$root/bin"
    cp "$(command -v busybox)" "$root/bin/busybox"
    ln -sf busybox "$root/bin/sh"
    install_file "$checks/guest-init" "$root/init"
    (cd "$root" && find . | cpio --quiet -o -H newc) >"$kernel/initramfs.new"
    mv "$kernel/initramfs.new" "$kernel/initramfs"
}

install_file() { cp "$1" "$2" && chmod +x "$2"; }
