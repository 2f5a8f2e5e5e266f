import Glibc

/// Units, where systemd runs.
package enum Systemd {
    package static var isThere: Bool { access("/run/systemd/system", F_OK) == 0 }

    package static func state(_ unit: String) -> String {
        guard isThere else { return "" }
        return ChildProgram(["systemctl", "is-active", unit])?.text.filter { !$0.isWhitespace } ?? ""
    }

    package static func isActive(_ unit: String) -> Bool { state(unit) == "active" }

    package static func property(_ name: String, of unit: String) -> String {
        ChildProgram(["systemctl", "show", "-p", name, "--value", "--timestamp=unix", unit])?
            .text.filter { !$0.isWhitespace } ?? ""
    }

    package static func does(_ verb: String, _ unit: String) -> Bool {
        ChildProgram(["systemctl", verb, unit], seconds: 120)?.isDone ?? false
    }
}
