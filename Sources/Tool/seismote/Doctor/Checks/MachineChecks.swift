import Messages
import Values

/// The unit runs, and comes back after a boot.
enum ServiceCheck {
    private static let journal = "journalctl -u seismote -n 50 says why"

    static func judge(_ facts: Facts) -> [Verdict] {
        switch facts.service {
        case .known(let unit) where unit.load != "not-found": unitVerdicts(unit)
        case .known: processVerdicts(facts.agent, "there is no unit seismote.service here")
        case .unknown(let reason): processVerdicts(facts.agent, reason)
        }
    }

    private static func unitVerdicts(_ unit: ServiceFacts) -> [Verdict] {
        guard unit.active == "active" else {
            let why = unit.result.isEmpty || unit.result == "success" ? "" : ", result \(unit.result)"
            return [.wrong(stopped(unit, why))]
        }
        if unit.file == "disabled" {
            return [
                .wrong(
                    Diagnosis(
                        "unit_disabled", .warning,
                        "seismote.service runs, but does not start at the next boot (disabled).",
                        remedy: "sudo systemctl enable seismote"))
            ]
        }
        if unit.restarts > 3 {
            return [
                .wrong(
                    Diagnosis(
                        "unit_restarts", .warning,
                        "seismote.service was restarted \(unit.restarts) times since it was started.",
                        remedy: journal))
            ]
        }
        return [.fine("seismote.service is \(unit.active) (\(unit.sub)), \(unit.file)")]
    }

    private static func stopped(_ unit: ServiceFacts, _ why: String) -> Diagnosis {
        if unit.load == "masked" || unit.file == "masked" {
            return Diagnosis(
                "unit_stopped", "seismote.service is masked and cannot be started.",
                remedy: "sudo systemctl unmask seismote && sudo systemctl enable --now seismote")
        }
        // EX_CONFIG: systemd does not start it again.
        if unit.exitStatus == 78 {
            return Diagnosis(
                "unit_stopped", "seismote.service is \(unit.active): the agent refused its settings (exit status 78).",
                remedy: "seismote config check /etc/seismote/seismote.yaml, then sudo systemctl restart seismote")
        }
        let isFailed = unit.active == "failed"
        return Diagnosis(
            "unit_stopped", "seismote.service is \(unit.active) (\(unit.sub)\(why)).",
            remedy: "sudo systemctl enable --now seismote" + (isFailed ? "; \(journal)" : ""))
    }

    private static func processVerdicts(_ agent: Known<AgentFacts?>, _ reason: String) -> [Verdict] {
        agent.judge { agent in
            if let agent { return [.fine("seismoted runs (process \(agent.process)); \(reason)")] }
            return [
                .wrong(
                    Diagnosis(
                        "agent_stopped", "No seismoted with these settings runs on this machine (\(reason)).",
                        remedy: "Install the unit and start it: sudo systemctl enable --now seismote"))
            ]
        }
    }
}

/// Checks that the agent can read and write what it has to, and that nobody else can read secrets.
enum PermissionCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.files.judge { files in
            let wrong = files.files.compactMap { problem($0, files) }.map(Verdict.wrong)
            return wrong.isEmpty
                ? [.fine("the user \(files.user) may read and write what it has to, secrets are closed")] : wrong
        }
    }

    private static func problem(_ file: FileFact, _ facts: FileFacts) -> Diagnosis? {
        guard let mode = file.mode else {
            // The agent makes its own folder; what the settings name has to be there.
            guard file.need == .read else { return nil }
            return Diagnosis(
                "file_missing", "\(file.role) \(file.path) does not exist.",
                remedy: "Put it there, or correct its name in the settings file")
        }
        if !allows(file, mode, facts) {
            return Diagnosis(
                "file_permissions",
                "The user \(facts.user) may not \(word(file.need)) \(file.role) \(file.path) (mode \(octal(mode)), owner \(file.uid):\(file.gid)).",
                remedy: remedy(file, facts))
        }
        if file.isSecret, mode & 0o004 != 0 {
            return Diagnosis(
                "file_permissions", .warning,
                "Every user of this machine may read \(file.role) \(file.path) (mode \(octal(mode))).",
                remedy: "sudo chgrp \(facts.user) \(file.path) && sudo chmod 640 \(file.path)")
        }
        return nil
    }

    /// As the kernel judges: root may all, then the first that applies of owner, group, others.
    private static func allows(_ file: FileFact, _ mode: UInt32, _ user: FileFacts) -> Bool {
        if user.uid == 0 { return true }
        let wanted: UInt32 =
            switch file.need {
            case .read: 0o4
            case .write: 0o3
            case .search: 0o1
            }
        let shift: UInt32 = file.uid == user.uid ? 6 : user.groups.contains(file.gid) ? 3 : 0
        return mode >> shift & wanted == wanted
    }

    private static func remedy(_ file: FileFact, _ facts: FileFacts) -> String {
        switch file.need {
        case .read:
            file.isSecret
                ? "sudo chgrp \(facts.user) \(file.path) && sudo chmod 640 \(file.path)" : "sudo chmod a+r \(file.path)"
        case .write: "sudo chown -R \(facts.user): \(file.path) && sudo chmod u+rwx \(file.path)"
        case .search: "sudo chmod a+x \(file.path)"
        }
    }

    private static func word(_ need: FileFact.Need) -> String {
        switch need {
        case .read: "read"
        case .write: "write into"
        case .search: "enter"
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The clock is set by something that knows the time.
enum ClockCheck {
    /// 2025-01-01: a board without a battery begins at its last shutdown or in 1970.
    private static let earliest: Int64 = 1_735_689_600 * 1_000_000_000
    /// Above this a wave's arrival is off by more than a sample.
    private static let largestErrorMs = 100.0

    static func judge(_ facts: Facts) -> [Verdict] {
        facts.clock.judge { clock in
            let time = dateAndTime(Timestamp(nanoseconds: clock.now).description)
            if clock.now < earliest {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_not_set",
                            "The clock says \(time): it has never been set, so TLS fails and events have wrong times.",
                            remedy: remedy(clock)))
                ]
            }
            if !clock.isSynchronised {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_not_set",
                            "The clock (\(time)) is not synchronised to any source: times of events may be wrong by any amount.",
                            remedy: remedy(clock)))
                ]
            }
            if clock.errorMs > largestErrorMs {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_inaccurate", .warning,
                            "The clock may be wrong by \(significant(clock.errorMs, 3)) ms; for arrival times it should be at most \(Int(largestErrorMs)) ms.",
                            remedy:
                                "chronyc sources (or timedatectl timesync-status) shows the source; a nearer time server or GPS helps"
                        ))
                ]
            }
            return [.fine("the clock is synchronised, wrong by at most \(significant(clock.errorMs, 2)) ms")]
        }
    }

    private static func remedy(_ clock: ClockFacts) -> String {
        clock.daemons.isEmpty
            ? "sudo apt install chrony (or systemd-timesyncd: sudo timedatectl set-ntp true)"
            : "\(clock.daemons.joined(separator: ", ")) runs but has no answer: is the network there, does it let UDP port 123 through? chronyc sources or timedatectl timesync-status shows it"
    }
}

/// There is room for what waits for the broker, and it can be written.
enum DiskCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.disk.judge { disk in
            var wrong: [Verdict] = []
            if disk.isReadOnly {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "storage_read_only",
                            "\(disk.path) is on a file system that is read-only (\(disk.device)): storage unavailable.",
                            remedy:
                                "dmesg shows why; sudo mount -o remount,rw \(disk.device), and where that fails check it (fsck) or replace the card"
                        )))
            }
            if disk.freeFiles == 0 {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "disk_full",
                            "\(disk.path): the file system (\(disk.device)) has no room for another file (0 inodes free).",
                            remedy: "Delete files that nobody needs; df -i shows where they are")))
            } else if disk.free < 8_000_000 || disk.free < disk.total / 100 {
                wrong.append(.wrong(full(disk, .error)))
            } else if disk.free < 64_000_000 || disk.free < disk.total / 20 {
                wrong.append(.wrong(full(disk, .warning)))
            }
            return wrong.isEmpty ? [.fine("\(disk.path) can be written, \(megabytes(disk.free)) free")] : wrong
        }
    }

    private static func full(_ disk: DiskFacts, _ severity: Diagnosis.Severity) -> Diagnosis {
        Diagnosis(
            "disk_full", severity,
            "\(disk.path): only \(megabytes(disk.free)) of \(megabytes(disk.total)) are free (\(disk.device)).",
            remedy:
                "sudo journalctl --vacuum-size=50M; sudo apt clean; or give the station less: storage.budget_mb in the settings"
        )
    }

    private static func megabytes(_ bytes: Int64) -> String {
        "\(fixed(Double(bytes) / 1e6, bytes < 100_000_000 ? 1 : 0)) MB"
    }
}

/// Errors of the memory card, as the file system counted them and the kernel wrote them down.
enum CardCheck: OwnCheck {
    static let name = "memory card"

    static func gather(_ settings: SettingsFacts) -> Known<CardFacts> {
        let folder = "/sys/fs/ext4"
        let volumes = SmallFiles.names(in: folder).compactMap { name -> CardFacts.Volume? in
            guard let errors = SmallFiles.number("\(folder)/\(name)/errors_count") else { return nil }
            let last = SmallFiles.number("\(folder)/\(name)/last_error_time") ?? 0
            return CardFacts.Volume(device: "/dev/\(name)", errors: errors, last: Int64(last))
        }
        let lines = SmallFiles.text("/dev/kmsg").map { text in
            text.split(separator: "\n").compactMap { line in
                line.split(separator: ";", maxSplits: 1).last.map(String.init)
            }.filter(isError)
        }
        return .known(CardFacts(volumes: volumes, kernel: lines))
    }

    static func judge(_ card: CardFacts) -> [Verdict] {
        var wrong: [Verdict] = []
        for volume in card.volumes where volume.errors > 0 {
            let when =
                volume.last > 0
                ? ", the last on \(dateAndTime(Timestamp(nanoseconds: volume.last * 1_000_000_000).description))"
                : ""
            wrong.append(
                .wrong(
                    Diagnosis(
                        "memory_card_errors",
                        "The file system on \(volume.device) has counted \(volume.errors) errors\(when).",
                        remedy:
                            "\(save); then check it: sudo touch /forcefsck && sudo reboot, or fsck on another machine"
                    )))
        }
        if let line = card.kernel?.last {
            let count = card.kernel?.count ?? 0
            wrong.append(
                .wrong(
                    Diagnosis(
                        "memory_card_errors",
                        "The kernel reports \(count) errors of a disk or memory card, the last: \(safe(line, limit: 200))",
                        remedy:
                            "\(save), and replace the card (an \"endurance\" or industrial one) and the power supply if it is weak"
                    )))
        }
        if !wrong.isEmpty { return wrong }
        return card.kernel == nil
            ? [.skipped("the file systems count no errors; the kernel's log may be read by root only")]
            : [.fine("no errors of disks or memory cards")]
    }

    private static let save = "Save the data now"

    /// Whether a line of the kernel is about a disk or card that fails. Pure.
    static func isError(_ line: String) -> Bool {
        let text = line.lowercased()
        let card = text.contains("mmc") || text.contains("sd ") || text.contains("sda") || text.contains("nvme")
        return text.contains("i/o error") || text.contains("ext4-fs error")
            || text.contains("remounting filesystem read-only")
            || card && (text.contains("error -") || text.contains("timeout waiting") || text.contains("card stuck"))
    }
}

/// Facts for the check of the memory card.
struct CardFacts {
    /// An ext4 file system with the errors that it has counted.
    struct Volume {
        var device: String
        var errors: Int
        /// Seconds since 1970 of the last one; 0: not known.
        var last: Int64
    }
    var volumes: [Volume]
    /// Lines of the kernel about its disks, newest last; nil: they may not be read.
    var kernel: [String]?
}

/// A supply that is too weak, as the Raspberry Pi measures it: below 4.63 V it slows down, sensors on its bus fail, and
/// memory cards lose what is being written (Raspberry Pi documentation, "Power supply warnings"; Linux,
/// drivers/hwmon/raspberrypi-hwmon.c).
enum PowerCheck: OwnCheck {
    static let name = "power supply"

    static func gather(_ settings: SettingsFacts) -> Known<PowerFacts> {
        let folder = "/sys/class/hwmon"
        let sensor = SmallFiles.names(in: folder).first { SmallFiles.text("\(folder)/\($0)/name") == "rpi_volt\n" }
        let alarm = sensor.flatMap { SmallFiles.number("\(folder)/\($0)/in0_lcrit_alarm") }
        let lines = SmallFiles.text("/dev/kmsg").map { $0.split(separator: "\n").count(where: isUndervoltage) }
        if alarm == nil, lines == nil {
            return .unknown("the machine does not measure its supply; the kernel's log may be read by root only")
        }
        return .known(PowerFacts(isLow: alarm.map { $0 != 0 }, lines: lines))
    }

    static func judge(_ power: PowerFacts) -> [Verdict] {
        let lines = power.lines ?? 0
        guard power.isLow == true || lines > 0 else {
            return [.fine(power.isLow == nil ? "the kernel reports no under-voltage" : "the voltage is high enough")]
        }
        let when = power.isLow == true ? "is too low now" : "was too low"
        let count = lines > 0 ? " (the kernel has reported it \(lines) time\(lines == 1 ? "" : "s"))" : ""
        return [
            .wrong(
                Diagnosis(
                    "undervoltage", .warning, "The voltage of the power supply \(when)\(count).",
                    remedy: "use the board's own power supply with a short cable, and a powered hub for USB devices"))
        ]
    }

    /// Whether a line of the kernel says so. Pure.
    static func isUndervoltage(_ line: some StringProtocol) -> Bool {
        let text = line.lowercased()
        return text.contains("undervoltage detected") || text.contains("under-voltage detected")
    }
}

/// Facts for the check of the power supply.
struct PowerFacts {
    /// Whether it is too low now; nil: nothing measures it.
    var isLow: Bool?
    /// How often the kernel's log says so; nil: it may not be read.
    var lines: Int?
}
