import Messages
import Values

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
