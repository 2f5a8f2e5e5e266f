// swift-tools-version: 6.0
import PackageDescription

let common: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// For rooms that compute so much that tests, and agents that tests start, would take minutes of processor time without the
/// optimizer.
let alwaysOptimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]
/// For rooms that no sample passes: small code instead of fast code, since the size of the agent is limited.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A room of the package: a library target that depends only on rooms above it in this list.
///
/// - Parameter path: its folder below `Sources`: product, then name.
func room(
    _ path: String, _ dependencies: [Target.Dependency] = [], links: [String] = [], settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name(path), dependencies: dependencies, path: "Sources/\(path)",
        swiftSettings: common + settings,
        linkerSettings: links.map { .linkedLibrary($0) })
}

/// A program: as a room, but that it is started.
func program(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name(path), dependencies: dependencies, path: "Sources/\(path)", swiftSettings: common)
}
/// A program of `deploy/development`, which serves those who build: it is in no package.
func development(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "deploy/development/Sources/\(name)", swiftSettings: common)
}

/// A module map of a C library, with shims in C at most.
func library(_ name: String) -> Target { .systemLibrary(name: name, path: "Sources/Libraries/\(name)") }
/// (With the optimizer, also for tests: without it, the Fourier transform takes most of their time.)
func shim(_ name: String) -> Target {
    let optimized = ["-O2"]
    return .target(
        name: name, path: "Sources/Libraries/\(name)",
        cSettings: [.unsafeFlags(optimized, .when(configuration: .debug))],
        cxxSettings: [.unsafeFlags(optimized, .when(configuration: .debug))])
}

func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

/// The tests of a room, in the folder of the same name below `Tests`.
///
/// - Parameter program: whose they are, where it is no room.
func tests(_ path: String, of program: String? = nil, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name(path))Tests",
        dependencies: [.init(stringLiteral: program ?? name(path)), "TestSupport"] + dependencies,
        path: "Tests/\(path)Tests", swiftSettings: common)
}

/// The rooms that turn samples into messages on the disk.
let stationRoomNames = [
    "Values", "SignalProcessing", "Seismology", "MiniSEED", "Instruments", "Sensors", "Messages", "Settings", "Station",
    "Spool",
]

let package = Package(
    name: "Seismote",
    products: [
        .executable(name: "seismoted", targets: ["seismoted"]),
        .executable(name: "seismote", targets: ["seismote"]),
        .executable(name: "seismote-network", targets: ["seismote-network"]),
        .executable(name: "seismote-notify", targets: ["seismote-notify"]),
        .executable(name: "seismote-broker", targets: ["seismote-broker"]),
        .executable(name: "seismote-update", targets: ["seismote-update"]),
        // For deploy/checks/fuzz-targets, a package of its own.
        .library(
            name: "SeismoteStation",
            targets: stationRoomNames
        ),
        .library(name: "SeismoteAgent", targets: ["Agent"]),
        .library(name: "SeismoteFeed", targets: ["Feed"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
    ],
    targets: [
        // Module maps and thin shims, nothing else.
        library("CMosquitto"),
        library("CMiniSEED"),
        library("CYAML"),
        library("CJansson"),
        library("CSQLite"),
        library("CCrypt"),
        library("CExpat"),
        library("CRabbitMQ"),
        shim("CLinux"),
        shim("CKissFFT"),
        shim("CIIO"),
        shim("CSharedKey"),

        // The rooms, each depends only on those above it.
        room("Base/DatabaseFiles", ["CSQLite"]),
        room("Base/Values", ["CJansson"], settings: alwaysOptimized),
        room("Base/Platform", ["Values", "CLinux"]),
        // For programs that administer a machine.
        room("Base/Administration", ["Values", "Platform"]),
        room("Core/SignalProcessing", ["CKissFFT"], links: ["m"], settings: alwaysOptimized),
        room("Core/Seismology", ["SignalProcessing"], settings: alwaysOptimized),
        room("Core/Vibration", ["SignalProcessing"], settings: alwaysOptimized),
        room("Core/Propagation", settings: alwaysOptimized),
        room("Core/MiniSEED", ["Platform", "Values", "CMiniSEED"], settings: alwaysOptimized),
        room("Core/Instruments", ["SignalProcessing"]),
        room(
            "Core/Messages", ["Values", "Seismology", "Vibration", "MiniSEED", "Instruments"]),
        room("Core/Warning", ["Values", "Propagation", "Messages"]),
        room(
            "Core/Settings",
            ["Values", "Platform", "SignalProcessing", "Seismology", "Vibration", "Instruments", "Messages", "CYAML"],
            settings: small),
        room("Network/Association", ["Values", "Propagation", "Messages"], settings: alwaysOptimized),
        room("Core/Exchange", ["Values", "SignalProcessing", "MiniSEED", "Messages", "Settings"]),
        room(
            "Feed/Feed",
            [
                "Values", "Platform", "SignalProcessing", "MiniSEED", "Messages", "Settings", "Exchange",
                "DatabaseFiles", "CCrypt",
            ]),
        room(
            "Agent/Sensors",
            ["Platform", "Values", "SignalProcessing", "MiniSEED", "Instruments", "CLinux", "CIIO"],
            settings: alwaysOptimized),
        room(
            "Agent/Station",
            [
                "Values", "SignalProcessing", "Seismology", "Vibration", "MiniSEED", "Instruments", "Messages",
                "Settings", "Sensors",
            ], settings: alwaysOptimized),
        room(
            "Agent/Spool", ["Platform", "Values", "Vibration", "Messages", "MiniSEED", "CSQLite"]),
        room("Core/Commands", ["Values", "Messages", "Settings"], settings: small),
        room("Core/MQTT", ["Platform", "Values", "Messages", "Settings", "CMosquitto", "CLinux", "CSharedKey"]),
        room("Agent/Alerts", ["Values", "Instruments", "Messages", "Sensors", "Settings", "MQTT"]),
        room(
            "Agent/Agent",
            [
                "Platform", "Values", "SignalProcessing", "Seismology", "Vibration", "MiniSEED", "Instruments",
                "Messages", "Warning", "Settings", "Commands", "Sensors", "Station", "Spool", "MQTT", "Alerts",
                "CLinux",
            ]),

        room(
            "Core/ServerOptions",
            [
                "Platform", "Values", "Messages", "Settings", "MQTT",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        program("Agent/seismoted", ["Platform", "Agent"]),
        program(
            "Tool/seismote",
            [
                "Platform", "Values", "SignalProcessing", "Seismology", "Vibration", "Propagation", "MiniSEED",
                "Instruments", "Messages", "Warning", "Settings", "Exchange", "Commands", "Sensors", "Station", "MQTT",
                "Alerts", "Association", "ServerOptions", "Administration", "CLinux", "CExpat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // Of the machines of a network, not of stations: it alone needs librabbitmq.
        program(
            "Network/seismote-network",
            [
                "Values", "Platform", "DatabaseFiles", "Messages", "Settings", "Association", "MQTT", "ServerOptions",
                "CRabbitMQ", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // For people's phones, beside the broker.
        program(
            "Notify/seismote-notify",
            [
                "Values", "Platform", "Administration", "Propagation", "Messages", "Settings", "DatabaseFiles",
                "ServerOptions", "MQTT",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // The accounts of a broker, and the service that gives its stations certificates.
        program(
            "Broker/seismote-broker",
            [
                "Values", "Platform", "Administration", "Messages", "Settings", "MQTT", "CLinux",
            ]),

        // Updates of a station's agent that are asked for over MQTT.
        program("Updater/seismote-update", ["Values", "Platform", "Administration", "Messages"]),

        development(
            "simulate-fleet",
            [
                "Platform", "Values", "Seismology", "Propagation", "Messages", "Settings", "Sensors", "Station", "MQTT",
                "Association", "ServerOptions", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        .target(
            name: "TestSupport", dependencies: ["Platform", "Values", "Messages", "Settings", "CMosquitto"],
            path: "Tests/TestSupport"),
        tests("Base/Platform", ["Values"]),
        tests("Base/DatabaseFiles"),
        tests("Base/Values"),
        tests("Base/Administration", ["Values"]),
        tests("Core/SignalProcessing"),
        tests("Core/Seismology", ["MiniSEED"]),
        tests("Core/Vibration", ["SignalProcessing"]),
        tests("Core/Propagation"),
        tests("Core/MiniSEED"),
        tests("Agent/Sensors", ["Platform"]),
        tests("Core/Messages", ["Values", "Settings", "Instruments"]),
        tests("Core/Warning", ["Values", "Propagation", "Messages", "Settings"]),
        tests("Core/Settings"),
        tests("Network/Association", ["Values", "Propagation", "Messages", "Settings"]),
        tests(
            "Network/NetworkMachine", of: "seismote-network",
            [
                "Values", "Propagation", "Association", "Messages", "Settings", "DatabaseFiles", "MQTT",
                "ServerOptions",
            ]),
        tests("Core/Exchange", ["Values", "MiniSEED", "Settings", "Messages", "SignalProcessing"]),
        tests("Notify/Notify", of: "seismote-notify", ["Values", "Propagation", "Messages", "Settings"]),
        tests("Broker/Broker", of: "seismote-broker", ["Values", "Platform", "Administration"]),
        tests("Updater/Updater", of: "seismote-update", ["Values", "Messages"]),
        tests("Feed/Feed", ["Values", "MiniSEED", "Messages", "Settings", "Exchange", "DatabaseFiles"]),
        tests("Agent/Station", ["Sensors", "MiniSEED"]),
        tests("Agent/Spool"),
        tests("Core/Commands"),
        tests("Core/MQTT", ["Platform", "Messages", "Settings"]),
        tests("Agent/Alerts", ["MQTT", "Sensors", "Settings"]),
        tests("Agent/Agent", ["Platform", "MQTT", "seismote-broker"]),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "seismote", "seismote-network", "Values", "MQTT", "Alerts", "Messages", "Propagation", "Platform",
                "TestSupport", "CMosquitto",
            ],
            path: "Tests/Tool/ToolTests", swiftSettings: common
        ),
        .testTarget(
            name: "FleetTests", dependencies: ["simulate-fleet", "Seismology", "TestSupport"],
            path: "deploy/development/Tests/FleetTests", swiftSettings: common),
    ]
)

// To try a change: SEISMOTE_TESTS='Station|Spool' builds only the tests of these rooms.
if let rooms = Context.environment["SEISMOTE_TESTS"] {
    let tested = rooms.split(separator: "|").map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !tested.contains($0.name) }
}

// Builds of what is delivered need nothing of tests.
if Context.environment["SEISMOTE_WITHOUT_TESTS"] != nil {
    package.targets.removeAll { $0.type == .test || $0.name == "TestSupport" }
}

// For the short form of deploy/checks/sanitizers: what has threads, and its tests.
if Context.environment["SEISMOTE_ONLY_THREADS"] != nil {
    let tested = ["Platform", "Spool", "MQTT", "Agent"].map { "\($0)Tests" }
    package.targets.removeAll {
        ["seismote", "seismote-notify", "seismote-network", "simulate-fleet", "ServerOptions"].contains($0.name)
            || $0.type == .test && !tested.contains($0.name)
    }
    package.products.removeAll { ["seismote", "seismote-notify", "seismote-network"].contains($0.name) }
}

// deploy/benchmarks: programs that measure the rooms, compiled with the very objects that the products are linked from.
if Context.environment["SEISMOTE_BENCHMARKS"] != nil {
    let folder = "deploy/benchmarks/Sources"
    let stationRooms = stationRoomNames.map { Target.Dependency(stringLiteral: $0) }
    func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: common)
    }
    package.targets += [
        // Counts calls of the allocator, and does the same arithmetic by hand in C, to compare with.
        .target(name: "CMeasure", path: "\(folder)/CMeasure", cSettings: [.unsafeFlags(["-O2"])]),
        .target(name: "Measure", dependencies: ["CMeasure"], path: "\(folder)/Measure", swiftSettings: common),
        benchmark("cost", ["CMeasure", "Measure"] + stationRooms),
        benchmark("long-run", ["Measure"] + stationRooms),
        benchmark("discrimination", stationRooms),
        benchmark("storage", stationRooms),
        benchmark("gaps", stationRooms),
    ]
}

// The server `seismote-feed` stands on SwiftNIO, which needs Swift 6.1. Builds that only test leave it out, because it
// compiles long.
#if compiler(>=6.1)
if Context.environment["SEISMOTE_WITHOUT_SERVERS"] == nil, Context.environment["SEISMOTE_ONLY_THREADS"] == nil {
    package.dependencies.append(.package(url: "https://github.com/apple/swift-nio", from: "2.86.0"))
    package.dependencies.append(.package(url: "https://github.com/apple/swift-nio-ssl", from: "2.34.0"))
    package.products.append(.executable(name: "seismote-feed", targets: ["seismote-feed"]))
    package.targets.append(
        program(
            "Feed/seismote-feed",
            [
                "Platform", "MiniSEED", "Messages", "Settings", "DatabaseFiles", "ServerOptions", "Exchange", "Feed",
                "MQTT",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]))
}
#endif
