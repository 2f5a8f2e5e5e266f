// swift-tools-version: 6.0
import PackageDescription

let common: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// Nothing in the rooms asks for the names of cases and members at run time: 0.15 MB of the agent. (The command-line tool
/// does, to find its options.)
let unnamed: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"], .when(configuration: .release))
]

/// For rooms that no sample passes through: less code counts for more there than speed.
let forSize: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// For a room that has texts for the command-line tool alone: a program keeps of it only what it uses. (Elsewhere all
/// that is public stays; for all rooms the agent would be 0.03 MB larger, because jumps to other sections are longer.)
let onlyUsed: [SwiftSetting] = [
    .unsafeFlags(
        ["-Xfrontend", "-internalize-at-link", "-Xfrontend", "-function-sections"], .when(configuration: .release))
]

/// A room of the package: a library target that depends only on rooms above it in this list.
func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], links: [String] = [], small: Bool = false,
    settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, swiftSettings: common + unnamed + (small ? forSize : []) + settings,
        linkerSettings: links.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.init(stringLiteral: name), "TestSupport"] + dependencies,
        swiftSettings: common)
}

let package = Package(
    name: "Seismote",
    products: [
        .executable(name: "seismoted", targets: ["seismoted"]),
        .executable(name: "seismote", targets: ["seismote"]),
        // For deploy/benchmarks and deploy/checks/fuzz-targets, which are packages of their own.
        .library(
            name: "SeismoteStation",
            targets: [
                "SignalProcessing", "Seismology", "MiniSEED", "Sensors", "Messages", "Settings", "Station", "Spool",
            ]
        ),
        .library(name: "SeismoteAgent", targets: ["Agent"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
    ],
    targets: [
        // Module maps and thin shims, nothing else.
        .systemLibrary(name: "CMosquitto"),
        .systemLibrary(name: "CMiniSEED"),
        .systemLibrary(name: "CYAML"),
        .systemLibrary(name: "CJansson"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CExpat"),
        .target(name: "CLinux"),
        .target(name: "CKissFFT"),
        .target(name: "CIIO"),
        .target(name: "CSharedKey"),

        // The rooms, each depends only on those above it.
        room("Threads", ["CLinux"], small: true),
        room("SignalProcessing", ["CKissFFT"], links: ["m"]),
        room("Seismology", ["SignalProcessing"]),
        room("MiniSEED", ["Threads", "CMiniSEED"], small: true),
        room("Sensors", ["SignalProcessing", "MiniSEED", "CLinux", "CIIO"], small: true),
        room("Messages", ["Seismology", "MiniSEED", "Sensors"], small: true, settings: onlyUsed),
        room("Settings", ["SignalProcessing", "Seismology", "Sensors", "Messages", "CYAML", "CJansson"], small: true),
        room("Station", ["SignalProcessing", "Seismology", "MiniSEED", "Sensors", "Messages", "Settings"]),
        room("Spool", ["Messages", "MiniSEED", "CSQLite", "CLinux"], small: true),
        room("Commands", ["Messages", "Settings"], small: true),
        room("Link", ["Threads", "Messages", "Settings", "CMosquitto", "CLinux", "CSharedKey"], small: true),
        room(
            "Agent",
            [
                "Threads", "Sensors", "MiniSEED", "Messages", "Settings", "Commands", "Station", "Spool",
                "Link", "CLinux",
            ],
            small: true),

        .executableTarget(name: "seismoted", dependencies: ["Agent"], swiftSettings: common),
        .executableTarget(
            name: "seismote",
            dependencies: [
                "Threads", "SignalProcessing", "Seismology", "Sensors", "Messages", "Settings", "Station",
                "Commands", "Link", "MiniSEED", "CLinux", "CMosquitto", "CExpat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),

        .target(name: "TestSupport", dependencies: ["Threads", "CMosquitto"], path: "Tests/TestSupport"),
        tests("Threads"),
        tests("SignalProcessing"),
        tests("Seismology"),
        tests("MiniSEED"),
        tests("Sensors", ["Threads"]),
        tests("Messages", ["Settings", "Sensors"]),
        tests("Settings"),
        tests("Station", ["Sensors", "MiniSEED"]),
        tests("Spool"),
        tests("Commands"),
        tests("Link", ["Threads", "Settings"]),
        tests("Agent", ["Threads"]),
        .testTarget(
            name: "ToolTests", dependencies: ["seismote", "Threads", "TestSupport", "CMosquitto"],
            path: "Tests/ToolTests", swiftSettings: common
        ),
    ]
)

// For the short form of deploy/checks/sanitizers: what has threads, and its tests.
if Context.environment["SEISMOTE_ONLY_THREADS"] != nil {
    let tested = ["Threads", "Spool", "Link", "Agent"].map { "\($0)Tests" }
    package.targets.removeAll { $0.name == "seismote" || $0.type == .test && !tested.contains($0.name) }
    package.products.removeAll { $0.name == "seismote" }
}
