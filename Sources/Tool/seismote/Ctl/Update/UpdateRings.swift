import ArgumentParser

/// Stations in the order in which they are updated: the next ring begins when all of the one before are well.
struct UpdateRings: ExpressibleByArgument, Equatable {
    /// How many stations each ring has; nil, the last one: all that are left.
    private let sizes: [Int?]

    /// One, then five, then all.
    static let usual = UpdateRings(sizes: [1, 5, nil])

    private init(sizes: [Int?]) { self.sizes = sizes }

    /// `1,5,all`
    init?(argument: String) {
        var sizes: [Int?] = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            // (Behind `all` nothing is left.)
            guard sizes.allSatisfy({ $0 != nil }) else { return nil }
            if word == "all" {
                sizes.append(nil)
            } else if let size = Int(word), (1...100_000).contains(size) {
                sizes.append(size)
            } else {
                return nil
            }
        }
        self.sizes = sizes
    }

    var defaultValueDescription: String { sizes.map { $0.map(String.init) ?? "all" }.joined(separator: ",") }

    /// All stations, also where the sizes do not reach for them: these are the last ring.
    func split(_ stations: [String]) -> [[String]] {
        var rest = stations[...]
        var rings: [[String]] = []
        for size in sizes + [nil] where !rest.isEmpty {
            let ring = rest.prefix(size ?? rest.count)
            rings.append(Array(ring))
            rest = rest.dropFirst(ring.count)
        }
        return rings
    }
}
