import Instruments
import Messages
import Sensors
import Settings
import Values

/// Measurement or trial for the conversation.
enum SetupEvent: Equatable {
    /// An answer; nil: nobody is there any more.
    case answer(SetupQuestion, String?)
    /// Survey: the sensor that would be used (nil: none), lines about it, and the remedies.
    case survey(chip: String?, lines: [String], remedies: [String])
    /// A look at the samples at rest: the mean along the station's axes, or why there is none.
    case tapped(gravity: [Double]?, problem: String)
    /// Brokers that announce themselves; nil: that could not be looked up.
    case brokers([String]?)
    /// The connection: what was refused, with its remedy; what cannot be known; the clock's fault.
    case tried(BrokerTrial)
    case quiet(NoiseReport?, problem: String)
    /// Files were written; false: a person said no.
    case saved(Bool, problem: String)
    case started(problem: String?)
    /// A test event came back (nil), or why not; what cannot be tried is no fault.
    case tested(problem: String?, remedy: String, isFault: Bool)
    /// The broker on this machine has made an account.
    case account(broker: String, user: String, password: String)
}

/// Outcome of an attempt with a broker.
struct BrokerTrial: Equatable {
    /// Nil: connected.
    var problem: String?
    var denied: [String] = []
    /// Rights that nobody can know.
    var isUnverified = false
    /// The clock's diagnosis; nil: it is set.
    var clock: Diagnosis?
}

/// Next action.
enum SetupAction: Equatable {
    case ask(SetupQuestion, text: String, initial: String)
    case survey, tap, findBrokers, tryBroker, listen, save, start, test
    case end(isDone: Bool)
}

/// A line for the person or the program that is spoken to.
struct SetupLine: Equatable {
    enum Kind: String { case step, info, fault, remedy }
    var kind: Kind
    var text: String
}

/// The conversation of `seismote setup`, without a terminal, a sensor or a broker: says what has to be done next, and is
/// told what came of it. Pure.
struct SetupConversation {
    private enum Place: Int, CaseIterable {
        case survey, sensor, tap, mounting, north, name, latitude, longitude, groups, find, broker, fingerprint, user,
            password, attempt
        case clock, listen, preset, save, start, test, end
    }

    private(set) var answers: SetupAnswers
    /// The map of axes that gravity asks for, when it was agreed to.
    private(set) var mounting: Value?
    private(set) var lines: [SetupLine] = []
    private let assumesYes: Bool
    /// Brokers whose authority is known, by the settings that are there.
    private let known: [String]
    /// This machine has the broker of `seismote-broker`.
    private let hasOwnBroker: Bool
    /// Defaults that are offered: present settings, and answers that were refused.
    private var defaults: SetupAnswers
    private var place = Place.survey
    private var proposed: Value?
    private var found: [String] = []
    private var recommended: String?
    private var chip: String?
    /// Answers of a person in their order, and where each was asked: the places that one can go back to.
    private var asked: [(place: Place, question: SetupQuestion)] = []
    /// The password that was typed before somebody went back.
    private var typedPassword: String?
    /// User and password come from an account that the broker on this machine has made.
    private var hasAccount = false
    /// The quiet was measured, with the sensor of now.
    private var isHeard = false
    /// The clock is not set: the answers are saved, and the service is not started.
    private var savesOnly = false
    private var hasFailed = false

    /// - Parameters:
    ///   - given: by options.
    ///   - defaults: what is offered, from the settings file that is there.
    ///   - known: brokers whose authority is known, by the settings that are there.
    ///   - hasOwnBroker: whether this machine has the broker of `seismote-broker`.
    ///   - assumesYes: nobody is asked; the defaults hold.
    init(
        given: SetupAnswers, defaults: SetupAnswers, known: [String] = [], hasOwnBroker: Bool = false, assumesYes: Bool
    ) {
        (self.defaults, self.known, self.assumesYes) = (defaults, known, assumesYes)
        self.hasOwnBroker = hasOwnBroker
        answers = given
        say(.step, "1 of 5: the sensor")
        if !assumesYes {
            say(.info, "Enter takes the answer in brackets, \(SetupAnswers.back) goes back to the question before.")
        }
    }

    /// The lines since they were last taken.
    mutating func takeLines() -> [SetupLine] {
        defer { lines = [] }
        return lines
    }

    // MARK: what is next

    mutating func next() -> SetupAction {
        while true {
            switch place {
            case .survey:
                // Who asks nothing takes what is set.
                if assumesYes, answers[.sensor] == nil { answers[.sensor] = defaults[.sensor] }
                if answers[.sensor] == "simulate" {
                    say(.info, "A simulated sensor: no chip is looked for.")
                    (place, chip) = (.tap, "simulate")
                    continue
                }
                return .survey
            case .tap: return .tap
            case .find:
                say(.step, "3 of 5: the broker")
                if answers[.broker] == nil { return .findBrokers }
                advance()
            case .attempt: return .tryBroker
            case .listen:
                if isHeard {
                    place = .preset
                    continue
                }
                say(.step, "4 of 5: a minute of quiet")
                return .listen
            case .save:
                say(.step, "5 of 5: saving, and a test event")
                return .save
            case .start: return .start
            case .test: return .test
            case .end: return .end(isDone: !hasFailed)
            case .sensor, .mounting, .north, .name, .latitude, .longitude, .groups, .broker, .fingerprint, .user,
                .password, .clock, .preset:
                guard let question = question() else {
                    advance()
                    continue
                }
                if place == .name { say(.step, "2 of 5: the place") }
                if let text = answers[question.question] {
                    guard let problem = SetupAnswers.problem(question.question, text) else {
                        settle(question.question, text)
                        continue
                    }
                    fail(problem, "give another --\(question.question.rawValue)")
                    if assumesYes { return end() }
                    answers[question.question] = nil
                }
                if assumesYes {
                    guard SetupAnswers.problem(question.question, question.initial) == nil else {
                        fail("\(question.text): there is no answer", "give --\(question.question.rawValue)")
                        return end()
                    }
                    settle(question.question, question.initial)
                    continue
                }
                return .ask(question.question, text: question.text, initial: question.initial)
            }
        }
    }

    /// Broker to offer, safe ones first: one that announces itself with TLS, that of this machine, others.
    private var offeredBroker: String {
        if let secure = found.first(where: { $0.hasPrefix("mqtts://") }) { return secure }
        return hasOwnBroker ? SetupAnswers.here : found.first ?? "mqtt://localhost:1883"
    }

    private var isHere: Bool { answers[.broker] == SetupAnswers.here }

    /// The question of the present place; nil: there is none to be asked.
    private func question() -> (question: SetupQuestion, text: String, initial: String)? {
        func of(_ question: SetupQuestion, _ text: String, _ initial: String = "") -> (SetupQuestion, String, String) {
            (question, text, defaults[question] ?? initial)
        }
        switch place {
        case .sensor:
            return of(
                .sensor, "Sensor (auto, i2c:BUS:ADDRESS, iio:NAME, simulate, again)", chip == nil ? "again" : "auto")
        case .mounting:
            guard proposed != nil else { return nil }
            return (.mounting, "Take the axes so that z points up", "y")
        case .north: return of(.north, "Bearing of the station's y axis, degrees from north", "0")
        case .name: return of(.name, "Name of the station")
        case .latitude: return of(.latitude, "Latitude in degrees, may be coarse (empty: not given)")
        case .longitude: return of(.longitude, "Longitude in degrees (empty: not given)")
        case .groups: return of(.groups, "Groups, with commas (empty: none)")
        case .broker:
            return of(
                .broker, "Broker (mqtts://HOST:8883, mqtt://HOST, or here: on this machine)",
                offeredBroker)
        case .fingerprint:
            let broker = answers[.broker] ?? ""
            if !broker.hasPrefix("mqtts://") || known.contains(broker) { return nil }
            return (
                .fingerprint, "Fingerprint of its authority (on the broker: seismote-broker fingerprint; empty: none)",
                ""
            )
        case .user where isHere, .password where isHere: return nil
        case .user: return of(.user, "User name (empty: none)")
        case .password:
            let kept = typedPassword == nil ? "the one that is there" : "the one that was typed before"
            return (answers[.user] ?? "").isEmpty ? nil : of(.password, "Password (empty: \(kept))")
        case .clock:
            return (
                .clock, "The clock is not set (again: look once more, y: go on, n: save the answers and end)",
                SetupAnswers.again
            )
        case .preset:

            let names = ([SetupAnswers.keep] + Preset.all.map(\.name)).joined(separator: ", ")
            return of(.preset, "Preset (\(names))", recommended ?? "seismology")
        default: return nil
        }
    }

    // MARK: what came of it

    mutating func take(_ event: SetupEvent) {
        switch event {
        case .answer(_, SetupAnswers.back?): goBack()
        case .answer(let question, let text?):
            if let problem = SetupAnswers.problem(question, text) { return say(.fault, problem) }
            asked.append((place, question))
            settle(question, text)
        case .answer(_, nil):
            say(.info, "Given up: nothing was saved. sudo seismote setup begins anew.")
            (hasFailed, place) = (true, .end)
        case .survey(let chip, let found, let remedies): survey(chip, found, remedies)
        case .tapped(let gravity, let problem): tapped(gravity, problem)
        case .brokers(let brokers):
            found = brokers ?? []
            if brokers == nil {
                say(.info, "Brokers that announce themselves are found with: sudo apt install avahi-utils")
            } else {
                say(
                    .info,
                    found.isEmpty
                        ? "No broker announces itself on this network." : "Found: \(found.joined(separator: ", "))")
            }
            advance()
        case .tried(let trial): tried(trial)
        case .quiet(let report, let problem): quiet(report, problem)
        case .saved(let isSaved, let problem):
            if isSaved, savesOnly {
                fail(
                    "the service is not started, because the clock is not set",
                    "set the clock, then: sudo systemctl enable --now seismote", ends: true)
                return
            }
            if isSaved { return advance() }
            fail(problem.isEmpty ? "not saved" : problem, "nothing was changed; seismote setup begins anew", ends: true)
        case .started(let problem):
            guard let problem else {
                say(.info, "The service runs.")
                return advance()
            }
            say(.info, "The service was not started: \(problem)")
            place = .end
        case .tested(let problem, let remedy, let isFault):
            if let problem, isFault {
                fail(problem, remedy)
            } else {
                say(.info, problem ?? "A test event went to the broker and came back.")
                if problem != nil, !remedy.isEmpty { say(.info, remedy) }
            }
            place = .end
        case .account(let broker, let user, let password):
            (answers[.broker], answers[.user], answers[.password]) = (broker, user, password)
            hasAccount = true
            say(.info, "The broker on this machine has an account for `\(user)`: \(broker)")
        }
    }

    private mutating func survey(_ chip: String?, _ found: [String], _ remedies: [String]) {
        self.chip = chip
        for line in found { say(.info, line) }
        place = .sensor
        guard chip == nil else { return }
        say(.fault, "No sensor that can be used was found.")
        for remedy in remedies { say(.remedy, remedy) }
        // What was named is tried all the same.
        if assumesYes, answers[.sensor] == nil { _ = end() }
    }

    private mutating func tapped(_ gravity: [Double]?, _ problem: String) {
        place = .mounting
        guard let gravity else {
            say(.fault, problem)
            if assumesYes { _ = end() } else { retrySensor() }
            return
        }
        let length = gravity.reduce(0) { $0 + $1 * $1 }.squareRoot()
        say(
            .info,
            "At rest: \(zip(["x", "y", "z"], gravity).map { "\($0) \(fixed($1, 2))" }.joined(separator: ", ")) m/s², together \(fixed(length, 2))."
        )
        switch MountingCheck.judge(gravity, MountingConfiguration()) {
        case .fine(let words): say(.info, words)
        case .skipped(let words): say(.info, words)
        case .wrong(let diagnosis):
            say(.info, diagnosis.message)
            if let axis = (0..<3).max(by: { gravity[$0].magnitude < gravity[$1].magnitude }),
                axis != 2 || gravity[2] < 0
            {
                let map = MountingAdvice.sources(up: (axis, gravity[axis] < 0 ? -1 : 1), now: MountingConfiguration())
                proposed = try? YAMLDocument.read(Array(map.utf8))
                say(.info, "So that z points up: sensor.mounting: \(map)")
            } else {
                say(.remedy, diagnosis.remedy)
            }
        }
    }

    private mutating func retrySensor() {
        answers[.sensor] = nil
        forget(from: .survey)
    }

    /// From here on all is asked anew.
    private mutating func forget(from place: Place) {
        self.place = place
        asked.removeAll { $0.place.rawValue >= place.rawValue }
    }

    /// The question before, with its answer on offer; what was answered by an option stays.
    private mutating func goBack() {
        guard let (place, question) = asked.popLast() else {
            return say(.info, "This is the first question; Ctrl-C gives up.")
        }
        self.place = place
        switch question {
        case .password: typedPassword = answers[.password].flatMap { $0.isEmpty ? nil : $0 } ?? typedPassword
        case .mounting, .clock, .fingerprint: break
        case .broker:
            if hasAccount { (answers[.user], answers[.password], hasAccount) = (nil, nil, false) }
            fallthrough
        default: defaults[question] = answers[question]
        }
        answers[question] = nil
        savesOnly = false
    }

    private mutating func tried(_ trial: BrokerTrial) {
        if let problem = trial.problem {
            let cause = BrokerProblem(problem)
            let broker = answers[.broker].map(SetupAnswers.uri) ?? ""
            fail("No connection: \(problem)", cause.remedy(broker: broker, user: answers[.user] ?? ""))
            return retryBroker(keepsBroker: cause == .credentials)
        }
        if !trial.denied.isEmpty {
            let name = answers[.user].flatMap { $0.isEmpty ? nil : $0 } ?? "STATION"
            fail(
                "Connected, but the account is not authorised to publish to \(trial.denied.joined(separator: ", ")).",
                "the account must be named as the station (\(answers[.name] ?? "")); on the broker's machine sudo seismote-broker invite \(name), here sudo seismote join with its line"
            )
            return retryBroker(keepsBroker: true)
        }
        say(
            .info,
            trial.isUnverified
                ? "Connected; this broker does not tell which topics may be written."
                : "Connected; the station's topics may be written.")
        let (user, name) = (answers[.user] ?? "", answers[.name] ?? "")
        if trial.isUnverified, !user.isEmpty, user != name {
            say(
                .info,
                "The account is `\(user)` and the station `\(name)`: a broker with rights by name lets an account write only the station of its own name."
            )
        }
        place = .listen
        guard let clock = trial.clock else { return say(.info, "The clock is set.") }
        say(.fault, clock.message)
        say(.remedy, clock.remedy)
        // A board that waits for its time server need not wait for the settings.
        if !assumesYes, clock.severity == .error { place = .clock }
    }

    private mutating func retryBroker(keepsBroker: Bool) {
        if assumesYes {
            _ = end()
            return
        }
        hasFailed = false
        defaults[.user] = answers[.user]
        if !keepsBroker {
            (defaults[.broker], answers[.broker], answers[.fingerprint]) = (answers[.broker], nil, nil)
        }
        (answers[.user], answers[.password], hasAccount) = (nil, nil, false)
        forget(from: .broker)
    }

    private mutating func quiet(_ report: NoiseReport?, _ problem: String) {
        (place, isHeard) = (.preset, true)
        guard let report else { return say(.info, "The noise was not measured: \(problem)") }
        for line in report.lines { say(.info, line) }
        recommended = report.preset
        say(.info, "Recommended preset: \(report.preset), because \(report.reason).")
    }

    // MARK: moves

    private mutating func settle(_ question: SetupQuestion, _ text: String) {
        answers[question] = text
        switch question {
        case .sensor where text == "again": retrySensor()
        case .mounting:
            mounting = SetupAnswers.yes(text) == true ? proposed : nil
            advance()
        case .clock:
            switch SetupAnswers.yes(text) {
            case true?: place = .listen
            case false?: (savesOnly, place) = (true, .save)
            case nil: place = .attempt
            }
        case .password:
            if text.isEmpty { answers[.password] = typedPassword ?? "" }
            place = .attempt
        case .sensor:
            isHeard = false
            place = .tap
        default: advance()
        }
    }

    private mutating func advance() {
        place = Place(rawValue: place.rawValue + 1) ?? .end
        // Only a clock that is not set asks.
        if place == .clock { place = .listen }
    }

    private mutating func end() -> SetupAction {
        (hasFailed, place) = (true, .end)
        return .end(isDone: false)
    }

    private mutating func fail(_ problem: String, _ remedy: String, ends: Bool = false) {
        say(.fault, problem)
        if !remedy.isEmpty { say(.remedy, remedy) }
        hasFailed = true
        if ends { place = .end }
    }

    private mutating func say(_ kind: SetupLine.Kind, _ text: String) {
        lines.append(SetupLine(kind: kind, text: text))
    }
}
