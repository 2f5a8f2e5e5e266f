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

/// For rooms that compute so much that their tests would take minutes without the optimizer.
let alwaysOptimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

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
        .executable(name: "seismote-network", targets: ["seismote-network"]),
        // For deploy/benchmarks and deploy/checks/fuzz-targets, which are packages of their own.
        .library(
            name: "SeismoteStation",
            targets: [
                "SignalProcessing", "Seismology", "MiniSEED", "Sensors", "Messages", "Settings", "Station", "Spool",
            ]
        ),
        .library(name: "SeismoteAgent", targets: ["Agent"]),
        .library(name: "SeismoteFeed", targets: ["Feed"]),
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
        .systemLibrary(name: "CRabbitMQ"),
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
        room("Association", ["Messages"], settings: alwaysOptimized),
        room("Cluster", ["Messages", "Settings", "Association"]),
        room("Exchange", ["SignalProcessing", "MiniSEED", "Messages", "Settings"]),
        room("Servers", ["Messages", "Settings", "CSQLite"]),
        room("Feed", ["SignalProcessing", "MiniSEED", "Messages", "Settings", "Exchange"]),
        room("Station", ["SignalProcessing", "Seismology", "MiniSEED", "Sensors", "Messages", "Settings"]),
        room("Spool", ["Messages", "MiniSEED", "CSQLite", "CLinux"], small: true),
        room("Commands", ["Messages", "Settings"], small: true),
        room("Link", ["Threads", "Messages", "Settings", "CMosquitto", "CLinux", "CSharedKey"], small: true),
        room("Alerts", ["Messages", "Sensors", "Settings", "Link"], small: true),
        room(
            "Agent",
            [
                "Threads", "Sensors", "MiniSEED", "Messages", "Settings", "Commands", "Station", "Spool",
                "Link", "Alerts", "CLinux",
            ],
            small: true),

        // Apart from the rooms, because finding options at run time needs the names that those leave out.
        .target(
            name: "ServerOptions",
            dependencies: [
                "Messages", "Settings", "Servers", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),

        .executableTarget(name: "seismoted", dependencies: ["Agent"], swiftSettings: common),
        .executableTarget(
            name: "seismote",
            dependencies: [
                "Threads", "SignalProcessing", "Seismology", "Sensors", "Messages", "Settings", "Station",
                "Exchange", "Commands", "Link", "Alerts", "MiniSEED", "Association", "Cluster", "Servers",
                "ServerOptions", "CLinux", "CMosquitto", "CExpat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),

        // Of the machines of a network, not of stations: it alone needs librabbitmq.
        .executableTarget(
            name: "seismote-network", dependencies: ["Threads", "Messages", "Cluster", "CRabbitMQ"],
            swiftSettings: common),

        .target(name: "TestSupport", dependencies: ["Threads", "CMosquitto"], path: "Tests/TestSupport"),
        tests("Threads"),
        tests("SignalProcessing"),
        tests("Seismology", ["MiniSEED"]),
        tests("MiniSEED"),
        tests("Sensors", ["Threads"]),
        tests("Messages", ["Settings", "Sensors"]),
        tests("Settings"),
        tests("Association", ["Messages", "Settings"]),
        tests("Cluster", ["Association", "Messages", "Settings"]),
        tests("Exchange", ["Settings", "Messages", "SignalProcessing"]),
        tests("Servers", ["Messages", "Settings"]),
        tests("Feed", ["MiniSEED", "Messages", "Settings", "Exchange"]),
        tests("Station", ["Sensors", "MiniSEED"]),
        tests("Spool"),
        tests("Commands"),
        tests("Link", ["Threads", "Settings"]),
        tests("Alerts", ["Link", "Sensors", "Settings"]),
        tests("Agent", ["Threads"]),
        .testTarget(
            name: "ToolTests",
            dependencies: ["seismote", "Alerts", "Messages", "Threads", "TestSupport", "CMosquitto"],
            path: "Tests/ToolTests", swiftSettings: common
        ),
    ]
)

// For the short form of deploy/checks/sanitizers: what has threads, and its tests.
if Context.environment["SEISMOTE_ONLY_THREADS"] != nil {
    let tested = ["Threads", "Spool", "Link", "Agent"].map { "\($0)Tests" }
    package.targets.removeAll {
        ["seismote", "ServerOptions"].contains($0.name) || $0.type == .test && !tested.contains($0.name)
    }
    package.products.removeAll { $0.name == "seismote" }
}

// The server `seismote-feed` stands on SwiftNIO, which needs Swift 6.1. Builds that only test leave it out, because it
// compiles long.
#if compiler(>=6.1)
if Context.environment["SEISMOTE_WITHOUT_SERVERS"] == nil, Context.environment["SEISMOTE_ONLY_THREADS"] == nil {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-nio", from: "2.86.0"))
    package.products.append(.executable(name: "seismote-feed", targets: ["seismote-feed"]))
    package.targets.append(
        .executableTarget(
            name: "seismote-feed",
            dependencies: [
                "Threads", "MiniSEED", "Messages", "Settings", "Servers", "ServerOptions", "Exchange", "Feed", "Link",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: common))
}
#endif
