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
