import Testing

@testable import seismote

@Suite struct UpdateRingsTests {
    private static let stations = ["a", "b", "c", "d", "e", "f", "g", "h"]

    private static func sizes(_ text: String) -> [Int]? {
        UpdateRings(argument: text)?.split(stations).map(\.count)
    }

    @Test func ringsHaveTheirSizesAndLeaveNobodyOut() {
        #expect(Self.sizes("1,5,all") == [1, 5, 2])
        #expect(Self.sizes("all") == [8])
        #expect(Self.sizes("1,2") == [1, 2, 5])
        #expect(Self.sizes("8,1,all") == [8])
        #expect(Self.sizes("100") == [8])
        #expect(UpdateRings(argument: "1,5,all")?.split(Self.stations).joined().elementsEqual(Self.stations) == true)
        #expect(UpdateRings(argument: "1,all")?.split([]).isEmpty == true)
    }

    @Test(arguments: ["", "0", "-1", "1,", ",1", "all,1", "1,some", "1.5", "all,all", "100001"])
    func whatIsNoneIsRefused(_ text: String) { #expect(UpdateRings(argument: text) == nil) }
}
