import Testing
import Vibration

/// Which mode of a period is which of the one before.
@Suite struct FollowedModesTests {
    private static func mode(_ frequency: Double, _ shape: [Double] = [1, 0, 0], id: Int? = nil) -> StructureMode {
        var mode = StructureMode(frequency: frequency, damping: 0.01, shape: shape, prominence: 20)
        mode.id = id
        return mode
    }

    private static func ids(_ followed: inout FollowedModes, _ modes: StructureMode...) -> [Int?] {
        var modes = modes
        followed.recognise(&modes)
        return modes.map(\.id)
    }

    @Test func aModeKeepsItsNumberWhileItMoves() {
        var followed = FollowedModes()
        #expect(Self.ids(&followed, Self.mode(2), Self.mode(3, [0, 1, 0])) == [1, 2])
        // Frost: 10 % in a hundred periods, and both cross each other's frequency at last.
        for step in 1...100 {
            let up = Self.mode(2 * (1 + 0.001 * Double(step)))
            #expect(Self.ids(&followed, up) == [1])
        }
        #expect(Self.ids(&followed, Self.mode(2.21), Self.mode(3.02, [0.1, 1, 0])) == [1, 2])
        // One that jumps by more than 4 % is another one; the first is known when it comes back.
        #expect(Self.ids(&followed, Self.mode(2.5)) == [3])
        #expect(Self.ids(&followed, Self.mode(2.2), Self.mode(2.49)) == [1, 3])
    }

    /// Two modes at nearly one frequency, along two axes.
    @Test func shapesTellModesApart() {
        var followed = FollowedModes()
        #expect(Self.ids(&followed, Self.mode(2), Self.mode(2.01, [0, 1, 0])) == [1, 2])
        #expect(Self.ids(&followed, Self.mode(2, [0.1, -1, 0]), Self.mode(2.01, [-1, 0.1, 0])) == [2, 1])
        #expect(Self.ids(&followed, Self.mode(2, [0, 0, 1])) == [3])
        // Of two that are alike the nearer one is it; the other is new.
        #expect(Self.ids(&followed, Self.mode(1.98), Self.mode(2.005)) == [4, 1])
    }

    @Test func aRestartGoesOn() {
        var followed = FollowedModes()
        let stored = [
            [Self.mode(2, id: 7), Self.mode(3, [0, 1, 0], id: 4)], [Self.mode(2.01, id: 7)], [Self.mode(9)],
        ]
        for period in stored { followed.recall(period) }
        #expect(Self.ids(&followed, Self.mode(2.02), Self.mode(2.99, [0, 1, 0]), Self.mode(9)) == [7, 4, 8])
    }

    /// The one that was seen longest ago goes; its number is not given again.
    @Test func onlySoManyAreFollowed() {
        var followed = FollowedModes()
        var frequency = 1.0
        for step in 0..<FollowedModes.most + 1 {
            #expect(Self.ids(&followed, Self.mode(frequency)) == [step + 1])
            frequency *= 1.1
        }
        #expect(Self.ids(&followed, Self.mode(1)) == [FollowedModes.most + 2])
        #expect(Self.ids(&followed, Self.mode(1.1 * 1.1 * 1.1)) == [4])
    }
}
