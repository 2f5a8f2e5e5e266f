import Messages
import Propagation

/// Where an earthquake was, and what its onsets leave open.
public struct Location: Sendable, Equatable {
    public typealias Quality = NetworkEventMessage.Location.Quality

    /// The most probable source.
    public var source: Hypocentre
    public var quality: Quality
    /// Closed lines, latitude and longitude in degrees, that have the epicentre inside one of them with 90 %.
    public var region: [[SIMD2<Double>]]
    /// The most probable sources of the other parts of the region.
    public var others: [Hypocentre]
    /// From the middle of the stations: degrees clockwise from north, 0 to 360, and km.
    public var azimuth: Double
    public var distance: Double
    /// Kilometres from the epicentre to the farthest point of the region.
    public var extent: Double
    /// Sources that stand for all that the onsets leave possible, each for as much of the probability.
    public var candidates: [Candidate] = []

    /// A possible source.
    public struct Candidate: Sendable, Equatable {
        public var place: Place
        /// Kilometres.
        public var depth: Double
    }

    /// Kilometres up to which the extent of a good place goes.
    static let goodExtent = 20.0

    /// A source that many stations around it have determined: its region is the ellipse.
    init(certain source: Hypocentre, centre: Place) {
        self.source = source
        quality = .good
        others = []
        // 90 % of a normal distribution in two dimensions, from 68 %.
        let factor = (4.605 / 2.28).squareRoot()
        let (major, minor) = (max(0.1, source.semiMajor * factor), max(0.1, source.semiMinor * factor))
        region = [
            Contour.ellipse(major, minor, source.azimuth).map { point in
                let place = Place(offset: point, from: source.place)
                return SIMD2(place.latitude, place.longitude)
            }
        ]
        extent = major
        candidates = [-1.0, 0, 1].map { deviations in
            Candidate(place: source.place, depth: max(0, source.depth + deviations * source.depthSigma))
        }
        (azimuth, distance) = Self.direction(of: source.place, from: centre)
    }

    init(
        _ source: Hypocentre, _ quality: Quality, _ region: [[SIMD2<Double>]], _ others: [Hypocentre], centre: Place,
        extent: Double
    ) {
        (self.source, self.quality, self.region, self.others) = (source, quality, region, others)
        self.extent = extent
        (azimuth, distance) = Self.direction(of: source.place, from: centre)
    }

    private static func direction(of place: Place, from centre: Place) -> (azimuth: Double, distance: Double) {
        let offset = place.projected(around: centre)
        let distance = (offset * offset).sum().squareRoot()
        return (distance > 0 ? Contour.azimuth(offset) : 0, distance)
    }
}
