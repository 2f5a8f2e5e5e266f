import Foundation
import Testing
import Values

@Test func aRandomUUIDIsOneOfTheFourthVersion() throws {
    let all = (0..<1000).map { _ in RandomUUID.text() }
    #expect(Set(all).count == all.count)
    for one in all {
        #expect(UUID(uuidString: one) != nil && one == one.lowercased(), "\(one)")
        let letters = Array(one)
        #expect(letters[14] == "4" && "89ab".contains(letters[19]), "\(one)")
    }
}
