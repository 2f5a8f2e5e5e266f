// swift-tools-version: 6.0
import PackageDescription

// Programs around libFuzzer; deploy/checks/fuzz builds them with -sanitize=fuzzer,address, which brings it.
let package = Package(
    name: "SeismoteFuzzTargets",
    dependencies: [.package(name: "Seismote", path: "../../..")],
    targets: [
        .target(name: "LibFuzzer"),
        .target(name: "Checking"),
        .executableTarget(
            name: "commands",
            dependencies: ["LibFuzzer", "Checking", .product(name: "SeismoteAgent", package: "Seismote")]),
        .executableTarget(
            name: "feed", dependencies: ["LibFuzzer", "Checking", .product(name: "SeismoteFeed", package: "Seismote")]),
    ]
        + ["filter-designer", "pipeline", "sensors"].map { name in
            .executableTarget(
                name: name,
                dependencies: ["LibFuzzer", "Checking", .product(name: "SeismoteStation", package: "Seismote")])
        }
)
