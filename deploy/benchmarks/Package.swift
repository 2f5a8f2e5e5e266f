// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "SeismoteBenchmarks",
    dependencies: [.package(name: "Seismote", path: "../..")],
    targets: [
        // Counts calls of the allocator, and the same arithmetic by hand in C to compare with.
        .target(name: "CMeasure", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .release))]),
        .target(name: "Measure", dependencies: ["CMeasure"]),
        .executableTarget(
            name: "cost",
            dependencies: ["CMeasure", "Measure", .product(name: "SeismoteStation", package: "Seismote")]),
        .executableTarget(
            name: "long-run",
            dependencies: ["Measure", .product(name: "SeismoteStation", package: "Seismote")]),
        .executableTarget(
            name: "discrimination",
            dependencies: [.product(name: "SeismoteStation", package: "Seismote")]),
        .executableTarget(
            name: "storage", dependencies: [.product(name: "SeismoteStation", package: "Seismote")]),
    ]
)
