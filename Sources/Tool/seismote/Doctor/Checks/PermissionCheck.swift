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
