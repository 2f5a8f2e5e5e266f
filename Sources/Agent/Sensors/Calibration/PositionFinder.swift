import SignalProcessing

/// Finds in one long recording the positions in which the sensor lay still: seconds whose deviation is that of the noise,
/// three or more in a row that agree; the first and the last of them are left out.
public enum PositionFinder {
    /// Means of the positions, in order, m/s².
    public static func positions(_ recording: RestRecording) -> [[Double]] {
        let second = max(2, Int(recording.rate.rounded()))
        let axes = [recording.x, recording.y, recording.z]
        var means: [[Double]] = []
        var deviations: [Double] = []
        for number in 0..<recording.count / second {
            var mean: [Double] = []
            var deviation = 0.0
            for axis in axes {
                let part = axis[number * second..<(number + 1) * second]
                let m = RestRecording.mean(part)
                mean.append(m)
                deviation = max(deviation, part.reduce(0) { $0 + ($1 - m) * ($1 - m) } / Double(second))
            }
            means.append(mean)
            deviations.append(deviation.squareRoot())
        }
        guard !deviations.isEmpty else { return [] }
        let quiet = max(3 * deviations.sorted()[deviations.count / 4], 0.002 * standardGravity)
        let agreement = max(quiet, 0.02 * standardGravity)
        var found: [[Double]] = []
        var group: [[Double]] = []
        func close() {
            defer { group.removeAll() }
            guard group.count >= 3 else { return }
            let inner = group.dropFirst().dropLast()
            found.append((0..<3).map { axis in inner.reduce(0) { $0 + $1[axis] } / Double(inner.count) })
        }
        for (mean, deviation) in zip(means, deviations) {
            let agrees = group.first.map { first in (0..<3).allSatisfy { (first[$0] - mean[$0]).magnitude <= agreement }
            }
            if deviation > quiet || agrees == false { close() }
            if deviation <= quiet { group.append(mean) }
        }
        close()
        return found
    }
}
