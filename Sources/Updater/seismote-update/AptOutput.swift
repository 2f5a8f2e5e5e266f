/// Output of apt and dpkg, read.
package enum AptOutput {
    /// The first line that says why.
    package static func reason(_ text: String) -> String {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("E: ") || line.hasPrefix("dpkg: ") {
            return String(line.prefix(250))
        }
        return ""
    }

    /// Packages that `apt-get -s` would remove.
    package static func removed(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Remv ") }.compactMap {
            $0.dropFirst(5).split(separator: " ").first.map(String.init)
        }
    }

    /// Packages with versions that `apt-get -s` would install: `name=version`.
    package static func installed(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Inst ") }.compactMap { line in
            // `Inst name [version before] (version source [architecture])`
            let words = line.dropFirst(5).split(separator: " ")
            guard let name = words.first, let version = words.dropFirst().first(where: { $0.hasPrefix("(") }) else {
                return nil
            }
            return "\(name)=\(version.dropFirst().prefix { $0 != ")" })"
        }
    }

    /// Megabytes that `--print-uris` lists, rounded up: each line has address, file, bytes, checksum.
    package static func megabytesToFetch(_ text: String) -> Int {
        var bytes = 0
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("'") {
            let words = line.split(separator: " ")
            if words.count > 2, let size = Int(words[2]), size >= 0 { bytes += min(size, 1 << 40) }
        }
        return (bytes + (1 << 20) - 1) >> 20
    }

    /// Megabytes of `Installed-Size` that `apt-cache show` tells, rounded up.
    package static func megabytesUnpacked(_ text: String) -> Int {
        var kilobytes = 0
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("Installed-Size:") {
            let size = line.dropFirst(15).filter { $0 != " " }
            if let size = Int(size), size >= 0 { kilobytes += min(size, 1 << 30) }
        }
        return (kilobytes + 1023) / 1024
    }
}

/// Whether disks have room for what is to be written. What goes to one disk is counted together.
package struct DiskNeeds {
    package struct Need: Sendable {
        package var place: String
        /// Number of its device, and megabytes that are free there.
        package var disk: UInt64
        package var free: Int
        package var size: Int

        package init(_ place: String, disk: UInt64, free: Int, size: Int) {
            (self.place, self.disk, self.free, self.size) = (place, disk, free, size)
        }
    }

    /// - Parameters:
    ///   - spare: megabytes that have to stay free.
    ///   - fetch, unpack, copy: megabytes, for the sentence.
    /// - Returns: what is too little; nil: all has room.
    package static func shortage(_ needs: [Need], spare: Int, fetch: Int, unpack: Int, copy: Int) -> String? {
        for need in needs {
            let size = needs.filter { $0.disk == need.disk }.reduce(spare) { $0 + $1.size }
            guard need.free < size else { continue }
            let place = needs.first { $0.disk == need.disk }?.place ?? need.place
            return "the disk of \(place) is too full: \(need.free) MB are free, \(size) MB are needed "
                + "(\(fetch) MB to fetch, \(unpack) MB unpacked, \(copy) MB for a copy of the data, \(spare) MB to spare)"
        }
        return nil
    }
}
