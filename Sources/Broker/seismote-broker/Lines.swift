/// Letters and digits that are not taken for each other, 4.95 bits each.
package enum ReadableLetters {
    private static let all = Array("abcdefghjkmnpqrstuvwxyz23456789".utf8)

    /// - Parameter random: a source of random bytes.
    package static func draw(_ count: Int, _ random: () -> UInt8) -> String {
        var letters: [UInt8] = []
        while letters.count < count {
            let byte = Int(random())
            // (Each letter as often as the others.)
            if byte < 256 / all.count * all.count { letters.append(all[byte % all.count]) }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// A password of 118 bits, in groups of four.
    package static func password(_ random: () -> UInt8) -> String {
        let letters = Array(draw(24, random))
        return stride(from: 0, to: 24, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }
}

/// Files for cloud-init that make a station of a board.
package enum CloudConfig {
    /// - Parameters:
    ///   - line: of the invitation.
    ///   - source: where the board gets the package: apt's list, and its key in base64; nil: it has it.
    package static func text(_ line: String, source: (list: String, key: String)?) -> String {
        // (By `bootcmd`, which cloud-init does at each start: what it does once it does not do again when the power fails
        // before it is on the disk. Here each part is done until it is there.)
        var text = """
            #cloud-config
            bootcmd:
              - |
                # (At each start, until it is on the disk: a power cut takes nothing away.)
                done=/var/lib/cloud/instance/seismote
                if ! [ -e $done-line ]; then
                    mkdir -p /etc/seismote
                    mkdir -p -m 700 /etc/seismote/joining
                    (umask 077 && echo '\(line)' >/etc/seismote/joining/line)
                    sync && touch $done-line
                fi

            """
        guard let source else {
            return text + """
                runcmd:
                  - [systemctl, --no-block, start, seismote-join.service]

                """
        }
        func indented(_ part: String) -> String {
            part.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        }
        text += """
                if ! [ -e $done-installed ]; then
                    mkdir -p /etc/apt/keyrings
                    base64 -d >/etc/apt/keyrings/seismote.gpg <<'KEY'
            \(indented(source.key))
                KEY
                    cat >/etc/apt/sources.list.d/seismote.list <<'SOURCE'
            \(indented(source.list))
                SOURCE
                    systemd-run --quiet --no-block --unit=seismote-install -p Wants=network-online.target -p After=network-online.target \\
                        -p Restart=on-failure -p RestartSec=30 -E DEBIAN_FRONTEND=noninteractive sh -ec '
                            # (Lists that a power cut has emptied count as up to date.)
                            rm -rf /var/lib/apt/lists
                            dpkg --configure -a || true
                            apt-get -q -o DPkg::Lock::Timeout=600 update
                            apt-get -q -o DPkg::Lock::Timeout=600 -y --fix-broken install seismote
                            sync
                            touch '$done'-installed
                            systemctl --no-block start seismote-join'
                fi

            """
        return text
    }
}
