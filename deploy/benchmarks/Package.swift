// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "SeismoteBenchmarks",
    dependencies: [.package(name: "Seismote", path: "../..")],
    targets: [
        // Counts heap calls, and the same arithmetic by hand in C to compare with.
        .target(name: "CMeasure", cSettings: [.unsafeFlags(["-O3"], .when(configuration: .release))]),
        .executableTarget(
            name: "cost",
            dependencies: ["CMeasure", .product(name: "SeismoteStation", package: "Seismote")]),
    ]
)
