import Glibc

/// A part of the Earth's surface between two latitudes and two longitudes, in degrees.
public struct GeoBox: Sendable, Equatable {
    public var south = -90.0, north = 90.0, west = -180.0, east = 180.0

    public init() {}

    init?(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        var isAsked = false
        for (name, path, most) in [
            ("minlatitude", \GeoBox.south, 90.0), ("maxlatitude", \GeoBox.north, 90),
            ("minlongitude", \GeoBox.west, 180), ("maxlongitude", \GeoBox.east, 180),
        ] {
            guard let number = try query.number(name, in: -most...most) else { continue }
            self[keyPath: path] = number
            isAsked = true
        }
        if !isAsked { return nil }
    }

    /// A place that is not known (NaN) is in no box.
    public func contains(_ latitude: Double, _ longitude: Double) -> Bool {
        guard latitude >= south, latitude <= north else { return false }
        if west > east { return longitude >= west || longitude <= east }
        return longitude >= west && longitude <= east
    }
}

/// A part of the Earth's surface around a place: a circle, or the ring between two.
public struct GeoCircle: Sendable, Equatable {
    public var latitude: Double
    public var longitude: Double
    /// Degrees of a great circle.
    public var radius: ClosedRange<Double>

    public init(latitude: Double, longitude: Double, radius: ClosedRange<Double>) {
        (self.latitude, self.longitude, self.radius) = (latitude, longitude, radius)
    }

    init?(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        let latitude = try query.number("latitude", in: -90...90)
        let longitude = try query.number("longitude", in: -180...180)
        let least = try query.number("minradius", in: 0...180)
        let most = try query.number("maxradius", in: 0...180)
        if latitude == nil, longitude == nil, least == nil, most == nil { return nil }
        let (low, high) = (least ?? 0, most ?? 180)
        guard low <= high else { throw .init(words: "minradius is above maxradius") }
        self.init(latitude: latitude ?? 0, longitude: longitude ?? 0, radius: low...high)
    }

    /// A place that is not known (NaN) is in no circle.
    public func contains(_ latitude: Double, _ longitude: Double) -> Bool {
        let radian = Double.pi / 180
        let (a, b) = (self.latitude * radian, latitude * radian)
        let half = (sin((b - a) / 2), sin((longitude - self.longitude) * radian / 2))
        // The haversine formula, which is exact at short distances.
        let square = half.0 * half.0 + cos(a) * cos(b) * half.1 * half.1
        guard square.isFinite else { return false }
        return radius.contains(2 * asin(min(1, square.squareRoot())) / radian)
    }
}
