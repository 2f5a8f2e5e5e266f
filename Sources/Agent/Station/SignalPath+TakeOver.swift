import Settings
import SignalProcessing

extension SignalPath {
    /// Whether a change of settings leaves what enters the filters as it was.
    static func entersAlike(_ new: Configuration, _ old: Configuration) -> Bool {
        var (mounting, before) = (new.sensor.mounting, old.sensor.mounting)
        (mounting.north, before.north) = (0, 0)
        return new.conditioning.offset == old.conditioning.offset && mounting == before
            && new.sensor.calibration == old.sensor.calibration
            && (0..<3).allSatisfy { new.axes[$0].signal == old.axes[$0].signal }
    }

    /// Goes on from another path, whose offset removal is the same, with every stage that is the same and whose input
    /// is. The RMS of an axis begins anew with its filter or its window, the level detector of an axis also with its
    /// threshold or hold.
    /// - Returns: the axes whose filter goes on.
    mutating func takeOver(_ old: SignalPath, _ new: Configuration, _ was: Configuration) -> PerAxis<Bool> {
        mounting = old.mounting
        offset = old.offset
        ground = old.ground
        let kept = filter.takeOver(old.filter)
        let (n, w) = (new.axes, was.axes)
        if kept.x, n.x.detection.window == w.x.detection.window {
            rmsX = old.rmsX
            levelX.takeOver(old.levelX)
        }
        if kept.y, n.y.detection.window == w.y.detection.window {
            rmsY = old.rmsY
            levelY.takeOver(old.levelY)
        }
        if kept.z, n.z.detection.window == w.z.detection.window {
            rmsZ = old.rmsZ
            levelZ.takeOver(old.levelZ)
        }
        detectors.takeOver(old.detectors, inputGoesOn: kept.x && kept.y && kept.z)
        var axes = PerAxis(true)
        (axes.x, axes.y, axes.z) = (kept.x, kept.y, kept.z)
        return axes
    }
}
