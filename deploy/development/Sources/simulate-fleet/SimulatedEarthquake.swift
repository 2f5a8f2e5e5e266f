import Association
import Glibc
import Propagation
import Sensors
import Values

/// An earthquake that a simulated fleet feels.
struct SimulatedEarthquake {
    var place: Place
    /// Kilometres.
    var depth: Double
    var magnitude: Double
    /// Seconds of UTC.
    var origin: Double

    /// Shaking that a station at a place feels: waves after iasp91, peaks after Cua and Heaton (2009).
    struct Shaking {
        /// Seconds of UTC.
        var p: Double
        var s: Double
        /// Peaks before and after the S wave, m/s².
        var firstPeak: Double
        var peak: Double
        /// Kilometres.
        var distance: Double

        /// The largest acceleration of an interval of time, m/s²: each wave sets in with its peak and fades.
        func peak(within time: ClosedRange<Double>) -> Double {
            func wave(_ peak: Double, from begin: Double) -> Double {
                time.upperBound < begin ? 0 : peak * exp(-max(0, time.lowerBound - begin) / Self.fading)
            }
            return max(wave(firstPeak, from: p), wave(peak, from: s))
        }

        /// It has become less than a thousandth.
        func isOver(at time: Double) -> Bool { time > max(p, s) + 7 * Self.fading }

        /// Seconds in which a wave falls to 1/e.
        private static let fading = 5.0
    }

    /// - Parameter scatter: of the station, in the logarithm (base 10) of the peak.
    func shaking(at station: Place, scatter: Double) -> Shaking {
        let distance = place.distance(to: station)
        let slant = (distance * distance + depth * depth).squareRoot()
        let times = TravelTimes.iasp91
        func peak(_ phase: Phase) -> Double {
            pow(10, MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: phase) + scatter) / 100
        }
        return Shaking(
            p: origin + times.seconds(.p, distance: distance, depth: depth),
            s: origin + times.seconds(.s, distance: distance, depth: depth), firstPeak: peak(.p), peak: peak(.s),
            distance: distance)
    }

    /// One line for those who compare what was found with what there was.
    var json: Value {
        [
            "origin_time": .string(Timestamp(nanoseconds: Int64(origin * 1e9)).description),
            "latitude": .double(place.latitude), "longitude": .double(place.longitude), "depth_km": .double(depth),
            "magnitude": .double(magnitude),
        ]
    }
}

/// Distributions for simulated stations.
extension SplitMix64 {
    mutating func uniform(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }

    /// A number of a normal distribution (Box and Muller 1958).
    mutating func normal(_ sigma: Double) -> Double {
        sigma * (-2 * log(uniform(1e-12...1))).squareRoot() * cos(2 * .pi * uniform(0...1))
    }

    /// Seconds until the next of something that comes at random, so often a day.
    mutating func wait(perDay: Double) -> Double { perDay > 0 ? -log(uniform(1e-12...1)) * 86_400 / perDay : .infinity }
}
