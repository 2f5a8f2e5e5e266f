import Glibc

/// A trigger that this program makes on this machine and takes away again. Its name is that of the device, so one that a
/// crashed run has left is found again and used.
struct LocalTrigger {
    enum Kind: Sendable, Equatable { case hrtimer, sysfs }

    static let hrtimers = "/sys/kernel/config/iio/triggers/hrtimer"
    static let maker = "/sys/bus/iio/devices/iio_sysfs_trigger"
    private static let devices = "/sys/bus/iio/devices"

    let kind: Kind
    /// Value for `trigger/current_trigger`.
    let name: String
    /// Its folder in sysfs.
    let folder: String
    /// Number that the maker of sysfs triggers knows it by.
    private let number: Int

    /// - Parameters:
    ///   - id: of the device, `iio:device0`.
    ///   - rate: in Hz; a sysfs trigger has none.
    init(_ kind: Kind, for id: String, rate: Double) throws(SensorError) {
        self.kind = kind
        let index = Int(id.drop { !$0.isNumber }) ?? 0
        // Far from the numbers that people choose.
        number = 7300 + index
        name = kind == .hrtimer ? "seismote\(index)" : "sysfstrig\(number)"
        if let found = Self.find(name) {
            folder = found
        } else {
            if let problem = Self.problem(kind) { throw problem.error }
            let failure =
                kind == .hrtimer
                ? mkdir("\(Self.hrtimers)/\(name)", 0o755) == 0 ? 0 : errno
                : Sysfs.write("\(Self.maker)/add_trigger", "\(number)")
            guard failure == 0 || failure == EEXIST, let made = Self.find(name) else {
                throw IIOFailure.error(failure == 0 ? ENODEV : failure, "the trigger \(name) cannot be made")
            }
            folder = made
        }
        guard kind == .hrtimer else { return }
        let failure = Self.patiently { Sysfs.write("\(folder)/sampling_frequency", DeviceAttributes.text(rate)) }
        guard failure == 0 else {
            remove()
            throw IIOFailure.error(failure, "\(folder)/sampling_frequency cannot be set")
        }
    }

    /// Tries again for two seconds what is not permitted: udev gives the files of a new trigger to their group a moment
    /// after they have appeared.
    static func patiently(_ pause: UInt32 = 50_000, _ action: () -> Int32) -> Int32 {
        var failure = action()
        for _ in 0..<40 where failure == EACCES {
            usleep(pause)
            failure = action()
        }
        return failure
    }

    /// Hz as the kernel has taken it; nil for one without.
    var rate: Double? { Sysfs.read("\(folder)/sampling_frequency").flatMap(DeviceAttributes.number) }

    /// The device has to be without it.
    func remove() {
        switch kind {
        case .hrtimer: _ = rmdir("\(Self.hrtimers)/\(name)")
        case .sysfs: _ = Sysfs.write("\(Self.maker)/remove_trigger", "\(number)")
        }
    }

    /// Folder of the trigger with a name.
    static func find(_ name: String) -> String? {
        for entry in Sysfs.names(in: devices) where entry.hasPrefix("trigger") {
            if Sysfs.read("\(devices)/\(entry)/name") == name { return "\(devices)/\(entry)" }
        }
        return nil
    }

    /// Name of a trigger that this program makes, or made before it crashed.
    static func isOurs(_ name: String) -> Bool {
        func hasNumber(_ prefix: String, _ least: Int) -> Bool {
            name.hasPrefix(prefix) && (Int(name.dropFirst(prefix.count)).map { $0 >= least && $0 < 7400 } ?? false)
        }
        return hasNumber("seismote", 0) || hasNumber("sysfstrig", 7300)
    }

    /// Reason why triggers of a kind cannot be made; nil when they can.
    static func problem(_ kind: Kind) -> IIOProblem? {
        switch kind {
        case .hrtimer:
            if access(hrtimers, F_OK) != 0 {
                let isMounted = access("/sys/kernel/config/iio", F_OK) == 0
                return IIOProblem(
                    .missing, "there is no \(hrtimers), which makes triggers from a timer of the kernel",
                    command: (isMounted
                        ? "" : "sudo modprobe configfs; sudo mount -t configfs none /sys/kernel/config; ")
                        + "sudo modprobe iio-trig-hrtimer")
            }
            if access(hrtimers, W_OK) != 0 {
                return IIOProblem(
                    .permission, "\(hrtimers) is not writable by this user",
                    command: "sudo mkdir \(hrtimers)/seismic, and give it the device's trigger/current_trigger")
            }
        case .sysfs:
            if access("\(maker)/add_trigger", F_OK) != 0 {
                return IIOProblem(
                    .missing, "there is no \(maker), which makes triggers that a program fires",
                    command: "sudo modprobe iio-trig-sysfs")
            }
            if access("\(maker)/add_trigger", W_OK) != 0 {
                return IIOProblem(
                    .permission, "\(maker)/add_trigger is not writable by this user",
                    command: "sudo chgrp iio \(maker)/*_trigger && sudo chmod g+w \(maker)/*_trigger")
            }
        }
        return nil
    }
}
