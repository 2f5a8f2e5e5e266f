/// How many may be connected: all together, from one address, and how many places nobody but clients of the web services
/// may take.
public struct Places: Sendable {
    private let all: Int
    private let ofAddress: Int
    private let forWeb: Int
    private var streams = 0
    private var web = 0
    private var perAddress: [String: Int] = [:]

    /// - Parameters:
    ///   - all: connections at once.
    ///   - ofAddress: of them from one address.
    ///   - forWeb: places that are kept for the web services, at most half of all.
    public init(all: Int, ofAddress: Int, forWeb: Int) {
        (self.all, self.ofAddress, self.forWeb) = (all, ofAddress, min(all / 2, forWeb))
    }

    public var taken: Int { streams + web }

    /// - Parameter isProxy: the address stands for many.
    /// - Returns: false where there is no place.
    public mutating func take(_ address: String, isWeb: Bool, isProxy: Bool = false) -> Bool {
        guard taken < all, isWeb || streams < all - forWeb,
            isProxy || perAddress[address, default: 0] < ofAddress
        else {
            return false
        }
        if isWeb { web += 1 } else { streams += 1 }
        perAddress[address, default: 0] += 1
        return true
    }

    public mutating func give(_ address: String, isWeb: Bool) {
        if isWeb { web -= 1 } else { streams -= 1 }
        perAddress[address, default: 1] -= 1
        if perAddress[address] == 0 { perAddress[address] = nil }
    }
}

/// The largest number of the last seconds, within a twelfth of them.
public struct RecentMaximum: Sendable {
    private let seconds: Double
    /// Parts of that time: when each began, and its largest number.
    private var parts: [(begin: Double, largest: Double)] = []

    public init(seconds: Double) { self.seconds = seconds }

    /// - Parameter now: monotonic seconds.
    public mutating func add(_ number: Double, at now: Double) {
        if let last = parts.last, now - last.begin < seconds / 12 {
            parts[parts.count - 1].largest = max(last.largest, number)
        } else {
            parts.removeAll { now - $0.begin > seconds }
            parts.append((now, number))
        }
    }

    public func maximum(at now: Double) -> Double {
        parts.lazy.filter { now - $0.begin <= seconds }.map(\.largest).max() ?? 0
    }
}
