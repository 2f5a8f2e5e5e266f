import Testing

@testable import seismote

/// Numbers as a person reads them.
@Suite struct NumberTests {
    @Test(
        arguments: [
            (170, 2, "170"), (165.4, 2, "170"), (0.41, 3, "0.41"), (235e6, 3, "235000000"), (-235e6, 3, "-235000000"),
            (0.000_012_34, 3, "0.0000123"), (0.000_01, 3, "0.00001"), (99.96, 3, "100"), (1000, 3, "1000"), (0, 3, "0"),
            (1e20, 3, "1e+20"), (.infinity, 3, "inf"),
        ] as [(Double, Int, String)])
    func significantDigits(_ number: Double, _ digits: Int, _ text: String) {
        #expect(significant(number, digits) == text)
    }
}
