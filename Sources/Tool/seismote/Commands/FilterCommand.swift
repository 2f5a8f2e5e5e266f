import ArgumentParser
import Glibc
import Messages
import Platform
import ServerOptions
import Settings
import SignalProcessing
import Values

/// `seismote filter ...`: filters without an agent.
struct FilterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter", abstract: "Inspect filters.", subcommands: [FilterShow.self])
}

/// `seismote filter show SPEC --rate R`
struct FilterShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the coefficients, poles and response of a filter.",
        discussion: """
            seismote filter show '{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}' --rate 100

            SPEC is written as in the settings, in quotes: shake:lp5, \
            '{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}', \
            '{simple: {type: lowpass, corner_hz: 5}}' or '{chain: [...]}'. Prints the second-order sections with all \
            their digits, the poles, gain, phase and group delay, and a drawing of the gain. When the filter is not \
            allowed, every error goes to standard error and the status is 78.

            The kinds of filters:
            \(FilterText.kinds.joined(separator: "\n"))
            """)

    @Argument(help: ArgumentHelp("The filter, as in the settings.", valueName: "spec"))
    var specification: String

    @Option(help: ArgumentHelp("Samples per second.", valueName: "hz"))
    var rate: Double

    @Option(
        help: ArgumentHelp(
            "Frequencies to give the response at, such as 0.1,1,5, from 0 to half of the rate.", valueName: "hz,..."))
    var at: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard rate > 0, rate <= 1e6 else {
            throw ValidationError("--rate \(rate): must be above 0 and at most 1000000")
        }
        _ = try frequencies()
    }

    /// Frequencies of `--at`; nil without it.
    private func frequencies() throws -> [Double]? {
        guard let at else { return nil }
        let parts = at.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let wrong = parts.filter { part in Double(part).map { !($0 >= 0 && $0 <= rate / 2) } ?? true }
        guard wrong.isEmpty else {
            let list = wrong.map { "`\($0)`" }.joined(separator: ", ")
            throw ValidationError("--at \(list): not a frequency from 0 to \(rate / 2) Hz, half of the rate")
        }
        return parts.compactMap(Double.init)
    }

    func run() throws {
        let filter: FilterSpecification
        do {
            filter = try FilterText.read(specification, rate: rate)
        } catch {
            for var one in error.errors {
                one.source = .file
                printError(one.text(fileName: "spec"))
            }
            throw ExitStatus.settings.code
        }
        let description: FilterDescription
        do {
            description = try FilterDescription(filter, rate: rate, frequencies: try frequencies())
        } catch let error as FilterDesignError {
            throw failure(error.description, .settings)
        }
        if json {
            print(String(decoding: description.value.json(), as: UTF8.self))
        } else {
            print(description.text)
        }
    }
}

/// All that `seismote filter show` says of a filter.
struct FilterDescription {
    private let filter: FilterSpecification
    private let rate: Double
    private let settling: Double
    private let frequencies: [Double]
    /// One design, or for an adaptive filter the one at rest and the one in motion.
    private let states: [(title: String?, key: String?, design: FilterSpecification.Design)]

    /// - Parameter frequencies: where the response is wanted; nil for a choice of them.
    init(_ filter: FilterSpecification, rate: Double, frequencies: [Double]?) throws(FilterDesignError) {
        self.filter = filter
        self.rate = rate
        let design = try filter.design(rate: rate)
        settling = design.settlingTime(rate: rate)
        if design.isAdaptive {
            states = [
                ("At rest (d = 0)", nil, design.held(motion: 0)),
                ("In motion (d = 1)", "in_motion", design.held(motion: 1)),
            ]
        } else {
            states = [(nil, nil, design)]
        }
        self.frequencies = frequencies ?? Self.series(from: Self.lowest(states[0].design, rate), rate, filter)
    }

    /// A frequency two decades below what the filter's slowest pole does, or three below half of the rate.
    private static func lowest(_ design: FilterSpecification.Design, _ rate: Double) -> Double {
        let slowest = design.poles(rate: rate).map(\.frequency).min() ?? rate / 2
        return pow(10, floor(log10(min(slowest / 10, rate / 200))))
    }

    /// 1, 2, 5 in each decade, and the corners.
    private static func series(from low: Double, _ rate: Double, _ filter: FilterSpecification) -> [Double] {
        var all = corners(filter)
        for decade in Int(floor(log10(low)))...Int(ceil(log10(rate))) {
            // As text, so that 10⁻¹ is 0.1 to the last digit.
            all += ["1", "2", "5"].compactMap { Double("\($0)e\(decade)") }.filter { $0 >= low && $0 < rate / 2 }
        }
        all.append(rate / 2)
        return Set(all).sorted()
    }

    private static func corners(_ filter: FilterSpecification) -> [Double] {
        switch filter {
        case .shake(let shake): corners(shake.specification)
        case .chain(let filters): filters.flatMap(corners)
        default: filter.facts?.frequencies.map(\.frequency) ?? []
        }
    }

    private static func decibels(_ gain: Double) -> Double { gain > 0 ? 20 * log10(gain) : -.infinity }

    /// Where the gain passes through 1/√2 of its largest value, in Hz.
    private func halfPower(_ design: FilterSpecification.Design) -> [Double] {
        func gain(_ frequency: Double) -> Double { design.response(at: frequency, rate: rate).gain }
        let low = Self.lowest(design, rate) / 10
        let steps = 2000
        let grid = (0...steps).map { low * pow(rate / 2 / low, Double($0) / Double(steps)) }
        // The peak itself may lie between two points.
        let highest = grid.indices.max { gain(grid[$0]) < gain(grid[$1]) } ?? 0
        var (left, right) = (grid[max(0, highest - 1)], grid[min(steps, highest + 1)])
        for _ in 0..<80 {
            let third = (right - left) / 3
            if gain(left + third) < gain(right - third) { left += third } else { right -= third }
        }
        let half = max(gain(left), gain(grid[highest])) * 0.5.squareRoot()
        var found: [Double] = []
        for (var a, var b) in zip(grid, grid.dropFirst()) where (gain(a) > half) != (gain(b) > half) {
            let side = gain(a) > half
            for _ in 0..<60 {
                let middle = (a + b) / 2
                if (gain(middle) > half) == side { a = middle } else { b = middle }
            }
            found.append((a + b) / 2)
        }
        return found
    }
}

// MARK: - For people

extension FilterDescription {
    var text: String {
        var parts = ["\(FilterText.line(filter)) at \(significant(rate, 10)) Hz"]
        if case .shake(let shake) = filter { parts[0] += "\nwhich is " + FilterText.line(shake.specification) }
        parts.append("Settles within 5 % in \(fixed(settling, 3)) s.")
        for state in states {
            if let title = state.title { parts.append("— " + title + " —") }
            parts += text(of: state.design)
        }
        guard states.contains(where: { !$0.design.sections.isEmpty }) else { return parts.joined(separator: "\n\n") }
        var plot = makePlot()
        for state in states { plot.add { Self.decibels(state.design.response(at: $0, rate: rate).gain) } }
        parts.append("Gain" + (states.count > 1 ? ", at rest and in motion" : "") + "\n" + plot.text)
        return parts.joined(separator: "\n\n")
    }

    private func text(of design: FilterSpecification.Design) -> [String] {
        guard !design.sections.isEmpty else { return ["No sections: the output is the input."] }
        var sections = Table(["", "b0", "b1", "b2", "a0", "a1", "a2"])
        var deltas = Table(["", "b0", "β1", "β2", "e1", "e2", "start"])
        for (i, (s, start)) in zip(design.sections, design.starts).enumerated() {
            sections.add(["\(i + 1)"] + (usual(s).b + usual(s).a).map(\.description))
            deltas.add(["\(i + 1)"] + [s.b0, s.beta1, s.beta2, s.e1, s.e2].map(\.description) + [start.rawValue])
        }
        var poles = Table(["z", "|z|", "Hz", "Q"], left: [0])
        for pole in design.poles(rate: rate) where pole.im >= 0 {
            let z = significant(pole.re, 12) + (pole.im == 0 ? "" : " ± \(significant(pole.im, 12))i")
            poles.add([
                z, significant(hypot(pole.re, pole.im), 12), significant(pole.frequency, 8),
                significant(pole.quality, 6),
            ])
        }
        var responses = Table(["Hz", "gain", "dB", "phase °", "group delay s"])
        for frequency in frequencies {
            let r = design.response(at: frequency, rate: rate)
            responses.add([
                significant(frequency, 8), significant(r.gain, 8), fixed(Self.decibels(r.gain), 3),
                fixed(r.phase * 180 / .pi, 3), fixed(r.groupDelay, 6),
            ])
        }
        let crossings = halfPower(design).map { significant($0, 8) + " Hz" }.joined(separator: ", ")
        return [
            "Sections: (b0 + b1 z⁻¹ + b2 z⁻²) / (a0 + a1 z⁻¹ + a2 z⁻²)\n" + sections.text,
            "The same with δ = z − 1, as it runs: (b0 δ² + β1 δ + β2) / (δ² + e1 δ + e2)\n" + deltas.text,
            "Poles\n" + poles.text,
            "Response; half of the largest power (-3.01 dB) at \(crossings.isEmpty ? "no frequency" : crossings)\n"
                + responses.text,
        ]
    }

    /// b0 b1 b2 and 1 a1 a2, where the rounding of a difference is no coefficient.
    private func usual(_ s: Section) -> (b: [Double], a: [Double]) {
        (
            [s.b0, s.b1, s.b2].map { abs($0) < 1e-15 * abs(s.b0) ? 0 : $0 },
            [1, s.a1, s.a2].map { abs($0) < 1e-15 ? 0 : $0 }
        )
    }

    private func makePlot() -> Plot {
        let low = Self.lowest(states[0].design, rate)
        var peak = 0.0
        for i in 0...200 {
            let frequency = low * pow(rate / 2 / low, Double(i) / 200)
            for state in states {
                peak = max(peak, Self.decibels(state.design.response(at: frequency, rate: rate).gain))
            }
        }
        let top = peak < 0.5 ? 0 : 10 * Int((peak / 10).rounded(.up))
        return Plot(low: low, high: rate / 2, top: top, bottom: top - 60)
    }
}

// MARK: - For machines

extension FilterDescription {
    var value: Value {
        var members: [Value.Member] = [
            .init("filter", FilterText.value(filter)), .init("rate_hz", .double(rate)),
            .init("settling_s", .double(settling)),
        ]
        for state in states {
            if let key = state.key {
                members.append(.init(key, .object(body(state.design))))
            } else {
                members += body(state.design)
            }
        }
        return .object(members)
    }

    private func body(_ design: FilterSpecification.Design) -> [Value.Member] {
        func number(_ value: Double?) -> Value { value.map { $0.isFinite ? .double($0) : .null } ?? .null }
        let sections = zip(design.sections, design.starts).map { s, start -> Value in
            [
                "b": .array(usual(s).b.map { .double($0) }), "a": .array(usual(s).a.map { .double($0) }),
                "delta": [
                    "b": .array([s.b0, s.beta1, s.beta2].map { .double($0) }),
                    "e": .array([1, s.e1, s.e2].map { .double($0) }),
                ], "start": .string(start.rawValue),
            ]
        }
        let poles = design.poles(rate: rate).map { pole -> Value in
            [
                "re": .double(pole.re), "im": .double(pole.im), "frequency_hz": .double(pole.frequency),
                "q": number(pole.quality),
            ]
        }
        let responses = frequencies.map { frequency -> Value in
            let r = design.response(at: frequency, rate: rate)
            return [
                "frequency_hz": .double(frequency), "gain": .double(r.gain), "gain_db": number(Self.decibels(r.gain)),
                "phase_deg": .double(r.phase * 180 / .pi), "group_delay_s": number(r.groupDelay),
            ]
        }
        return [
            .init("sections", .array(sections)), .init("poles", .array(poles)),
            .init("half_power_hz", .array(halfPower(design).map { .double($0) })),
            .init("response", .array(responses)),
        ]
    }
}
