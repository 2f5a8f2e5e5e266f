import Foundation
import TestSupport
import Testing

@testable import Settings

/// The files in `config` are copies of what the program prints and carries; they cannot drift.
@Suite struct FilesTests {
    private static let config = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("config")

    private func file(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: Self.config.appendingPathComponent(name)), as: UTF8.self)
    }

    @Test func theAnnotatedDefaultIsWhatConfigDefaultPrints() throws {
        #expect(try file("seismote.yaml") == DefaultFile.text)
    }

    @Test func theAnnotatedDefaultGivesEveryKeyAndChangesNothing() throws {
        let loaded = try load(DefaultFile.text)
        #expect(loaded.configuration == Configuration())
        let keys: [String] = SettingsTable.settings.flatMap { $0.concreteKeys.map(\.key) }
        // Null in a file takes a key back to its default, so it leaves no origin.
        let absent: Set = ["conditioning.settle_s", "station.latitude", "station.longitude", "station.elevation_m"]
        #expect(Set(keys).subtracting(loaded.origins.keys) == absent)
        for key in absent { #expect(DefaultFile.text.contains("\(key.split(separator: ".")[1]): null")) }
    }

    @Test func presetsAreTheFilesInConfigAndValid() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Self.config.appendingPathComponent("presets").path)
        #expect(Set(files) == Set(Preset.all.map { $0.name + ".yaml" }))
        for preset in Preset.all {
            #expect(try file("presets/\(preset.name).yaml") == preset.text)
            _ = try load(nil, preset: preset.text)
        }
    }

    @Test func theFirstPresetIsWhatIsBuiltIn() throws {
        let first = try #require(Preset.all.first)
        #expect(first.name == "seismology")
        #expect(try load(nil, preset: first.text).configuration == Configuration())
    }
}
