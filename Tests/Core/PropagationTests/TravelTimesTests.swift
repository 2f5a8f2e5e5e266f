import Testing

@testable import Propagation

/// Numbers of ObsPy 1.5.1, `TauPyModel("iasp91")`, first of p, P, Pg, Pn or s, S, Sg, Sn.
@Suite struct TravelTimesTests {
    @Test(arguments: [
        (0.0, 10.0, 1.724, 2.976), (51.0, 10.0, 8.954, 15.456), (133.0, 0.0, 22.931, 39.583),
        (247.0, 33.0, 34.492, 61.369), (611.0, 60.0, 79.226, 141.726),
    ])
    func isAsTauP(distance: Double, depth: Double, p: Double, s: Double) {
        let times = TravelTimes.iasp91
        #expect(abs(times.seconds(.p, distance: distance, depth: depth) - p) < 0.05)
        #expect(abs(times.seconds(.s, distance: distance, depth: depth) - s) < 0.1)
    }

    @Test func theTextSaysWhatTheTableSays() {
        for depth in [0.0, 0.5, 11, 34.9, 120, 699, 700, 900] {
            for distance in [0.0, 0.3, 7, 51.5, 99.9, 100, 288, 1199.9, 1200, 5000] {
                for phase in Phase.allCases {
                    let decoded = TravelTimes.iasp91.seconds(phase, distance: distance, depth: depth)
                    let direct = TravelTimes.seconds(phase, distance: distance, depth: depth)
                    #expect(abs(decoded - direct) < 1e-9, "\(phase) \(distance) km, \(depth) km")
                }
            }
        }
    }

    @Test func slopesAreThoseOfTheTimes() {
        for (distance, depth) in [(13.0, 4.0), (87.5, 21.0), (333.0, 90.0), (900.0, 410.0)] {
            let here = TravelTimes.iasp91.slope(.p, distance: distance, depth: depth)
            let further = TravelTimes.iasp91.seconds(.p, distance: distance + 0.001, depth: depth)
            let deeper = TravelTimes.iasp91.seconds(.p, distance: distance, depth: depth + 0.001)
            #expect(abs((further - here.time) / 0.001 - here.byDistance) < 1e-4)
            #expect(abs((deeper - here.time) / 0.001 - here.byDepth) < 1e-4)
        }
    }

    @Test func slownessIsBounded() {
        // What the search takes as a bound for all cells.
        for depth in stride(from: 0.0, through: 700, by: 7) {
            for distance in stride(from: 0.5, through: 1200, by: 3.3) {
                let slope = TravelTimes.iasp91.slope(.p, distance: distance, depth: depth)
                let size = (slope.byDistance * slope.byDistance + slope.byDepth * slope.byDepth).squareRoot()
                #expect(size < TravelTimes.slowest * 1.25, "\(distance) km, \(depth) km: \(size) s/km")
            }
        }
    }
}
