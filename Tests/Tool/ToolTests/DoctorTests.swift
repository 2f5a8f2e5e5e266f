import Alerts
import ArgumentParser
import Instruments
import MQTT
import Messages
import Platform
import Sensors
import Settings
import Testing
import Values

@testable import seismote

/// Each fault that `seismote doctor` finds, from written facts to the code, the sentence and the remedy.
@Suite struct DoctorTests {
    /// A station that is well.
    private static func well() -> Facts {
        var facts = Facts()
        facts.now = 1_800_000_000_000_000_000
        facts.settings.path = "/etc/seismote/seismote.yaml"
        facts.settings.configuration.station.id = "board"
        facts.files = .known(
            FileFacts(
                user: "seismote", uid: 900, groups: [900, 44],
                files: [
                    FileFact(path: "/etc/seismote", role: "the folder", need: .search, mode: 0o755),
                    FileFact(
                        path: "/etc/seismote/password", role: "the password file", need: .read, isSecret: true,
                        mode: 0o640, gid: 900),
                    FileFact(
                        path: "/var/lib/seismote", role: "the storage folder", need: .write, mode: 0o700, uid: 900,
                        gid: 900),
                ]))
        facts.service = .known(
            ServiceFacts(load: "loaded", active: "active", sub: "running", file: "enabled", result: "success"))
        facts.agent = .known(AgentFacts(process: 42, program: "/usr/bin/seismoted"))
        facts.state = .unknown("started by hand")
        facts.installed = .known(productVersion)
        facts.clock = .known(ClockFacts(isSynchronised: true, errorMs: 2, now: facts.now, daemons: ["chronyd"]))
        facts.disk = .known(
            DiskFacts(
                path: "/var/lib/seismote", total: 30_000_000_000, free: 9_000_000_000, freeFiles: 1000,
                isReadOnly: false, device: "/"))
        facts[CardCheck.self] = .known(
            CardFacts(volumes: [.init(device: "/dev/mmcblk0p2", errors: 0, last: 0)], kernel: []))
        facts[PowerCheck.self] = .known(PowerFacts(isLow: false, lines: 0))
        facts.broker = .known(BrokerFacts(name: "mqtts://broker:8883", problem: nil, user: "board"))
        var view = StationView()
        view.isOnline = true
        view.info = InfoReading(["agent": ["version": .string(productVersion)], "sensor": ["chip": "adxl345"]])
        view.health = HealthReading(["sensor": "ok", "alerts": []])
        facts.station = .known(StationFacts(view: view, boots: ["a"], gravity: [0.1, -0.1, 9.8]))
        facts.rights = .known([TopicRight(topic: "seismote/board/event/selfcheck", isGranted: true)])
        facts.certificates = .known([
            CertificateFacts(what: "The CA file /ca", from: 0, until: facts.now + 400 * 86_400_000_000_000)
        ])
        facts.leftovers = .known(LeftoverFacts(bases: [], staleAlerts: [], publish: "-h broker -p 8883"))
        facts.sensor = .unknown("the agent has the sensor")
        return facts
    }

    /// A packaged station: its account may read nothing of its own from the broker, and the agent's file says how it is.
    private static func packaged(_ change: (inout StateFacts) -> Void = { _ in }) -> Facts {
        var facts = well()
        facts.station = .known(StationFacts(view: StationView()))
        facts.leftovers = .unknown("nothing can be read")
        facts.certificates = .known([])
        var state = StateFacts()
        (state.view.isOnline, state.broker, state.gravity) = (true, "connected", [0.1, -0.1, 9.8])
        state.view.info = InfoReading(["agent": ["version": .string(productVersion)], "sensor": ["chip": "adxl345"]])
        state.view.health = HealthReading(["sensor": "ok"])
        change(&state)
        facts.state = .known(state)
        return facts
    }

    private static func found(_ change: (inout Facts) -> Void) -> [Diagnosis] {
        var facts = well()
        change(&facts)
        return DoctorReport(facts).diagnoses
    }

    /// The one diagnosis of a changed fact.
    private static func only(_ change: (inout Facts) -> Void) throws -> Diagnosis {
        let all = found(change)
        #expect(all.count == 1, "\(all)")
        return try #require(all.first)
    }

    private static func alert(
        _ code: String, _ facts: inout Facts, _ value: Value = ["message": "words", "severity": "error"]
    ) {
        guard var station = facts.station.fact else { return }
        station.view.alerts[code] = AlertReading(value)
        facts.station = .known(station)
    }

    @Test func aStationThatIsWellHasNothingWrong() {
        let report = DoctorReport(Self.well())
        #expect(report.diagnoses.isEmpty, "\(report.text)")
        // (Only the file of an agent that was started by hand.)
        #expect(report.text.hasSuffix("Nothing is wrong; 1 check skipped"))
        #expect(report.value["ok"] == true)
    }

    /// On a packaged station nothing is skipped but what earlier names have left with the broker.
    @Test func whatTheAgentSaysOfItselfNeedsNoBroker() {
        let report = DoctorReport(Self.packaged())
        #expect(report.diagnoses.isEmpty, "\(report.text)")
        let skipped = report.results.filter { if case .skipped = $0.verdict { true } else { false } }
        #expect(skipped.map(\.check) == ["leftovers"], "\(report.text)")
    }

    @Test(arguments: [
        ("sensor_missing", "sensor_missing"), ("sensor_stuck", "sensor_stuck"), ("duplicate_id", "duplicate_id"),
        ("write_denied", "rights_missing"), ("storage_failed", "alert_storage_failed"),
    ])
    func anAlertOfTheAgentIsFoundInItsFile(code: String, found: String) {
        let facts = Self.packaged { $0.view.alerts[code] = AlertReading(["message": "words", "severity": "error"]) }
        #expect(DoctorReport(facts).diagnoses.map(\.code) == [found])
    }

    /// Every state of the sensor for which there is no alert (yet).
    @Test(arguments: HealthMessage.SensorState.allCases) func aSensorThatIsNotWellIsNeverFine(
        state: HealthMessage.SensorState
    ) {
        func codes(_ change: (inout StateFacts) -> Void = { _ in }) -> [String] {
            DoctorReport(
                Self.packaged {
                    $0.view.health = HealthReading(["sensor": .string(state.rawValue)])
                    change(&$0)
                }
            ).diagnoses.map(\.code)
        }
        switch state {
        case .ok, .settling: #expect(codes().isEmpty)
        case .missing: #expect(codes() == ["sensor_missing"])
        case .fault: #expect(codes() == ["sensor_fault"])
        case .stalled:
            #expect(codes() == ["sensor_fault"])
            #expect(codes { $0.isEnded = true }.isEmpty)
        }
    }

    @Test func anOldStateIsOfAnAgentThatHangs() throws {
        for (age, codes) in [(0.0, []), (StateFacts.patience, []), (StateFacts.patience + 0.1, ["agent_hung"])] {
            // What it has said before is not believed any more.
            let facts = Self.packaged {
                $0.age = age
                guard !codes.isEmpty else { return }
                $0.view.alerts["sensor_missing"] = AlertReading(["message": "words", "severity": "error"])
            }
            #expect(DoctorReport(facts).diagnoses.map(\.code) == codes)
        }
        let silent = try Self.only { ($0.state, $0.isStateMissing) = (.unknown("no folder"), true) }
        #expect(silent.code == "agent_state_missing" && silent.remedy.contains("daemon-reload"))
    }

    /// Only what the process itself has written counts.
    @Test func theFileOfTheAgentIsRead() throws {
        let text =
            #"{"process":42,"written_ns":5000000000,"connected":true,"broker":"up","agent":{"version":"1.2.3"},"#
            + #""mean":{"x":0.1,"y":0.2,"z":9.8},"health":{"sensor":"ok"},"waiting":true,"ended":false,"#
            + #""alerts":[{"code":"sensor_stuck","message":"m"},{"no":1},7]}"#
        let facts = try #require(StateGather.facts(text, of: 42, path: "/p", now: 7))
        #expect(facts.age == 2 && facts.gravity == [0.1, 0.2, 9.8] && facts.isWaiting && !facts.isEnded)
        #expect(facts.view.isOnline == true && facts.view.version == "1.2.3" && facts.view.alerts.count == 1)
        for wrong in ["", "{", "[]", "7", #"{"process":42}"#, text.replacing("42", with: "43")] {
            #expect(StateGather.facts(wrong, of: 42, path: "/p", now: 7) == nil, "\(wrong)")
        }
        #expect(StateGather.folder("A=1\0RUNTIME_DIRECTORY=/run/seismote:/run/other\0B=2\0") == "/run/seismote")
        #expect(StateGather.folder("A=1\0") == nil && StateGather.folder("") == nil)
    }

    /// `pattern write seismote/%u/…`: the account is named otherwise than the station.
    @Test func userMismatch() throws {
        let one = try Self.only {
            $0.settings.configuration.station.id = "attic"
            $0.isBoundToUser = true
            $0.rights = .known([TopicRight(topic: "seismote/attic/event/selfcheck", isGranted: false)])
        }
        #expect(one.code == "user_mismatch" && one.message.contains("`board`") && one.message.contains("%u"))
        #expect(one.remedy.contains("seismote-broker invite attic") && one.remedy.contains("station.id: board"))
    }

    @Test func noErrorIsPrintedAsAValueOfSwift() {
        let errors: [any Error] = [
            ExitCode(78), CtlError(status: .files, "words"), ClientError("words"), CodedErrors([]),
            CodedErrors([CodedError("/a", .range, "words")]), ValidationError("words"),
            TuneError(status: .fault, lines: ["words"]), FileError(call: "write", path: "/a", code: 5),
        ]
        for error in errors { #expect(!sentence(of: error).contains("("), "\(sentence(of: error))") }
    }

    /// A defect: `alarm_line` was found and had no remedy of its own, because its list was written a second time here.
    @Test func everyAlertIsFoundOnceWithItsOwnRemedy() {
        var remedies: [String] = []
        for code in AlertDeclaration.all.map(\.code) + ["whatever"] {
            let all = Self.found { Self.alert(code, &$0) }
            #expect(all.count == 1 && all.allSatisfy { !$0.remedy.isEmpty && $0.message.contains("words") }, "\(all)")
            remedies += all.filter { $0.code != "rights_missing" }.map(\.remedy)
        }
        #expect(Set(remedies).count == remedies.count)
    }

    @Test func settingsBroken() throws {
        let one = try Self.only { $0.settings.errors = ["x.yaml:3: bad", "y"] }
        #expect(one.code == "settings_broken" && one.message.contains("x.yaml:3: bad (and 1 more)"))
        #expect(one.remedy.contains("seismote config check /etc/seismote/seismote.yaml"))
    }

    @Test func aFileThatWaitsOnTheBootPartition() throws {
        let path = "/boot/firmware/seismote.yaml"
        let untouched = try Self.only { $0.settings.bootFile = path }
        #expect(untouched.severity == .warning && untouched.remedy.contains("enable seismote-boot"))
        let refused = try Self.only { ($0.settings.bootFile, $0.settings.bootProblem) = (path, "line 2: bad") }
        #expect(refused.code == "boot_file" && refused.message.hasSuffix("was not taken over: line 2: bad"))
    }

    @Test func filePermissions() throws {
        func changed(_ index: Int, _ change: (inout FileFact) -> Void) throws -> Diagnosis {
            try Self.only { facts in
                guard var files = facts.files.fact else { return }
                change(&files.files[index])
                facts.files = .known(files)
            }
        }
        let closed = try changed(0) { $0.mode = 0o700 }
        #expect(closed.message.contains("may not enter") && closed.remedy == "sudo chmod a+x /etc/seismote")
        let unread = try changed(1) { $0.gid = 0 }
        #expect(
            unread.code == "file_permissions" && unread.remedy.contains("sudo chgrp seismote /etc/seismote/password"))
        let open = try changed(1) { $0.mode = 0o644 }
        #expect(open.severity == .warning && open.message.contains("mode 0644"))
        let foreign = try changed(2) { $0.uid = 0 }
        #expect(foreign.remedy.contains("chown -R seismote: /var/lib/seismote"))
        let missing = try changed(1) { $0.mode = nil }
        #expect(missing.code == "file_missing")
    }

    @Test func unitStopped() throws {
        let failed = try Self.only { facts in
            facts.service = .known(
                ServiceFacts(load: "loaded", active: "failed", sub: "failed", file: "enabled", result: "exit-code"))
        }
        #expect(failed.code == "unit_stopped" && failed.remedy.contains("journalctl"))
        let refused = try Self.only { facts in
            facts.service = .known(
                ServiceFacts(load: "loaded", active: "inactive", sub: "dead", file: "enabled", exitStatus: 78))
        }
        #expect(refused.message.contains("refused its settings"))
        let disabled = try Self.only { facts in
            facts.service = .known(ServiceFacts(load: "loaded", active: "active", sub: "running", file: "disabled"))
        }
        #expect(disabled.code == "unit_disabled" && disabled.severity == .warning)
        let gone = Self.found {
            $0.service = .unknown("no systemd")
            $0.agent = .known(nil)
        }
        #expect(gone.map(\.code).contains("agent_stopped"))
    }

    @Test func clockNotSet() throws {
        func clock(_ synced: Bool, _ error: Double, _ now: Int64, _ daemons: [String]) throws -> Diagnosis {
            try Self.only {
                $0.clock = .known(ClockFacts(isSynchronised: synced, errorMs: error, now: now, daemons: daemons))
            }
        }
        let now = Self.well().now
        #expect(try clock(false, 0, now, []).remedy.contains("apt install chrony"))
        #expect(try clock(false, 0, now, ["chronyd"]).remedy.contains("UDP port 123"))
        let never = try clock(true, 0, 12_000_000_000, [])
        #expect(never.code == "clock_not_set" && never.message.contains("1970-01-01"))
        #expect(try clock(true, 400, now, ["chronyd"]).code == "clock_inaccurate")
    }

    @Test func diskFullAndReadOnly() throws {
        func disk(_ change: (inout DiskFacts) -> Void) throws -> Diagnosis {
            try Self.only { facts in
                guard var disk = facts.disk.fact else { return }
                change(&disk)
                facts.disk = .known(disk)
            }
        }
        #expect(try disk { $0.free = 1_000_000 }.message.contains("only 1.0 MB of 30000 MB"))
        #expect(try disk { $0.free = 60_000_000 }.severity == .error)
        #expect(try disk { $0.free = 1_000_000_000 }.severity == .warning)
        #expect(try disk { $0.freeFiles = 0 }.remedy.contains("df -i"))
        let readOnly = try disk { $0.isReadOnly = true }
        #expect(readOnly.code == "storage_read_only" && readOnly.remedy.contains("remount,rw"))
    }

    @Test func memoryCardErrors() throws {
        let counted = try Self.only {
            $0[CardCheck.self] = .known(
                CardFacts(volumes: [.init(device: "/dev/mmcblk0p2", errors: 3, last: 1_790_000_000)], kernel: []))
        }
        #expect(counted.code == "memory_card_errors" && counted.message.contains("3 errors, the last on 2026-09-21"))
        let lines = [
            "mmc0: error -110 whilst initialising SD card", "EXT4-fs error (device mmcblk0p2): bad block bitmap",
            "blk_update_request: I/O error, dev mmcblk0, sector 123", "EXT4-fs (sda1): Remounting filesystem read-only",
        ]
        for line in lines { #expect(CardCheck.isError(line), "\(line)") }
        #expect(!CardCheck.isError("mmc0: new high speed SDHC card at address aaaa"))
        let told = try Self.only { $0[CardCheck.self] = .known(CardFacts(volumes: [], kernel: lines)) }
        #expect(told.message.contains("4 errors"))
    }

    @Test func undervoltage() throws {
        func found(_ isLow: Bool?, _ lines: Int?) throws -> Diagnosis {
            try Self.only { $0[PowerCheck.self] = .known(PowerFacts(isLow: isLow, lines: lines)) }
        }
        #expect(try found(true, nil).code == "undervoltage")
        #expect(try found(true, 0).message.hasSuffix("is too low now."))
        #expect(try found(false, 1).message.hasSuffix("was too low (the kernel has reported it 1 time)."))
        #expect(try found(nil, 3).message.contains("3 times"))
        let quiet = Self.found { $0[PowerCheck.self] = .known(PowerFacts(isLow: nil, lines: 0)) }
        #expect(quiet.isEmpty)
        // Linux 6.6 and later, and before.
        for line in ["4,1,2,-;hwmon hwmon1: Undervoltage detected!", "2,1,2,-;Under-voltage detected! (0x00050005)"] {
            #expect(PowerCheck.isUndervoltage(line), "\(line)")
        }
        #expect(!PowerCheck.isUndervoltage("6,1,2,-;hwmon hwmon1: Voltage normalised"))
    }

    @Test(arguments: [
        ("mqtt://b:1: Connection refused", "broker_away", "systemctl enable --now mosquitto"),
        ("mqtt://b:1: no connection within 10 s", "broker_away", "firewall"),
        ("mqtt://b:1: Lookup error.", "broker_away", "getent hosts"),
        (
            "mqtt://b:1: refused: Connection Refused: not authorised.", "broker_credentials",
            "seismote-broker invite board"
        ),
        ("mqtts://b:1: TLS: the broker's certificate was not accepted: expired", "broker_tls", "ca_file"),
    ])
    func brokerAway(sentence: String, code: String, remedy: String) throws {
        let one = try Self.only {
            $0.broker = .known(BrokerFacts(name: "mqtt://b:1", problem: sentence, user: "board"))
        }
        #expect(one.code == code && one.remedy.contains(remedy), "\(one)")
    }

    @Test func rightsMissing() throws {
        let tried = try Self.only {
            $0.rights = .known([TopicRight(topic: "seismote/board/event/selfcheck", isGranted: false)])
        }
        #expect(
            tried.code == "rights_missing" && tried.message.contains("`board` write seismote/board/event/selfcheck"))
        let told = try Self.only { Self.alert("mqtt_denied_topic", &$0) }
        #expect(told.code == "rights_missing")
        // MQTT 3.1.1: what came back beside it was written; nothing came back: nothing is known.
        #expect(TopicTrial.judge(["a", "b"], echoed: ["a"]).map(\.isGranted) == [true, false])
        #expect(TopicTrial.judge(["a", "b"], echoed: []).map(\.isGranted) == [nil, nil])
    }

    /// A defect: with MQTT 3.1.1 the rights were passed over in silence.
    @Test func rightsThatNobodyCanKnowAreToldWithWhatMakesThemKnown() throws {
        let one = try Self.only {
            $0.rights = .known([TopicRight(topic: "seismote/board/event/selfcheck", isGranted: nil)])
        }
        #expect(one.code == "rights_unknown" && one.severity == .warning)
        #expect(one.remedy.contains("topic read seismote/board/event/selfcheck"), "\(one.remedy)")
    }

    @Test(arguments: [true, false]) func mqtt311IsSaidWithWhatItTakesAway(isOld: Bool) {
        var facts = Facts()
        facts.broker = .known(BrokerFacts(name: "b", problem: nil, user: "u", isOld: isOld))
        guard case .fine(let words)? = BrokerCheck.judge(facts).first else { return #expect(Bool(false)) }
        #expect(words.contains("MQTT 3.1.1") == isOld && words.contains("/res/no-id") == isOld, "\(words)")
    }

    @Test func duplicateID() throws {
        #expect(try Self.only { Self.alert("duplicate_id", &$0) }.code == "duplicate_id")
        func boots(_ boots: [String]) -> [Diagnosis] {
            Self.found { facts in
                guard var station = facts.station.fact else { return }
                station.boots = boots
                facts.station = .known(station)
            }
        }
        // A restart is no second station.
        #expect(boots(["a", "b"]).isEmpty)
        #expect(boots(["a", "b", "a"]).map(\.code) == ["duplicate_id"])
        #expect(Self.found { $0.agent = .known(nil) }.map(\.code) == ["duplicate_id"])
    }

    @Test(arguments: [
        ([9.8, 0.1, 0.1], "+x", "{x: +y, y: +z, z: +x}"), ([-9.8, 0, 0], "-x", "{x: +z, y: +y, z: -x}"),
        ([0, 9.8, 0], "+y", "{x: +z, y: +x, z: +y}"), ([0, -9.8, 0], "-y", "{x: +x, y: +z, z: -y}"),
        ([0, 0, -9.8], "-z", "{x: +x, y: -y, z: -z}"),
    ])
    func wrongMounting(gravity: [Double], seen: String, advice: String) throws {
        let one = try Self.only { facts in
            guard var station = facts.station.fact else { return }
            station.gravity = gravity
            facts.station = .known(station)
        }
        #expect(one.code == "wrong_mounting" && one.message.contains("along \(seen) "), "\(one)")
        #expect(one.remedy.contains(advice), "\(one)")
    }

    @Test func aTiltIsAWarningUnlessItIsTurnedBack() {
        let tilted = [1.7, 0, 9.65]
        #expect(MountingCheck.judge(tilted, MountingConfiguration()).diagnosis?.severity == .warning)
        var level = MountingConfiguration()
        level.level = true
        #expect(MountingCheck.judge(tilted, level).diagnosis == nil)
    }

    @Test func stuckSensor() throws {
        let told = try Self.only {
            Self.alert("sensor_stuck", &$0, ["message": "the same", "details": ["axes": ["x"]]])
        }
        #expect(told.code == "sensor_stuck" && told.message.contains("(axes x)") && told.remedy.contains("power"))
        let seen = Self.found {
            $0.station = .unknown("no broker")
            $0.sensor = .known(SensorFacts(chip: "adxl345", isStuck: true, stuckAxes: "x, y, z"))
        }
        #expect(seen.map(\.code) == ["sensor_stuck"])
        let away = Self.found {
            $0.station = .unknown("no broker")
            $0.sensor = .known(
                SensorFacts(problem: "no I2C bus is enabled", code: "missing", remedies: ["sudo raspi-config"]))
        }
        #expect(away.map(\.code) == ["sensor_missing"] && away[0].remedy == "sudo raspi-config")
    }

    @Test func oldVersion() throws {
        let replaced = try Self.only {
            $0.agent = .known(AgentFacts(process: 42, program: "/usr/bin/seismoted", isReplaced: true))
        }
        #expect(replaced.code == "old_version" && replaced.remedy == "sudo systemctl restart seismote")
        let newer = try Self.only { $0.installed = .known("99.0.0") }
        #expect(newer.message.contains("the one that is installed is 99.0.0"))
        let other = try Self.only {
            $0.installed = .known("99.0.0")
            $0.station = .unknown("no broker")
            $0.sensor = .known(SensorFacts(chip: "adxl345"))
        }
        #expect(other.severity == .warning && other.message.contains("this tool is \(productVersion)"))
    }

    @Test func retainedLeftovers() throws {
        let topics = try Topics(id: "board")
        var own = Configuration().station
        (own.latitude, own.longitude) = (47.5, 7.6)
        var cellar = StationView()
        cellar.info = InfoReading(["station": ["latitude": 47.5, "longitude": 7.6]])
        var far = StationView()
        far.info = InfoReading(["station": ["latitude": 1.5, "longitude": 7.6]])
        let found = BrokerGather.suspects(
            presence: ["seismote/board": true, "seismote/cellar": false, "seismote/far": false, "school/board": false],
            stations: ["cellar": cellar, "far": far], topics: topics, host: "pi", own)
        #expect(found.map(\.base) == ["school/board", "seismote/cellar"])
        let one = try Self.only { facts in
            var base = found[0]
            // A name of a stranger never becomes a command.
            base.topics = ["school/board/state/online", "school/board/$(reboot)'"]
            facts.leftovers = .known(LeftoverFacts(bases: [base], staleAlerts: [], publish: "-h b"))
        }
        #expect(one.code == "retained_leftovers" && one.remedy.contains(#"'school/board/$(reboot)'\'''"#), "\(one)")
        let stale = try Self.only {
            $0.leftovers = .known(LeftoverFacts(bases: [], staleAlerts: ["seismote/board/state/alert/x"], publish: ""))
        }
        #expect(stale.message.contains("alerts that the station does not have"))
    }

    @Test func certificateExpiredOrSoon() throws {
        let (now, day) = (Self.well().now, Int64(86_400_000_000_000))
        func certificate(_ from: Int64, _ until: Int64) throws -> Diagnosis {
            try Self.only {
                $0.certificates = .known([CertificateFacts(what: "The CA file /ca", from: from, until: until)])
            }
        }
        #expect(try certificate(0, now - day).code == "certificate_expired")
        #expect(try certificate(0, now + 10 * day).message.contains("expires in 10 days"))
        let early = try certificate(now + day, now + 90 * day)
        #expect(early.code == "certificate_early")
        // (Not the clock of this machine alone: who has a right one has to find the way out.)
        #expect(early.remedy.contains("If the clock is right"))
    }

    @Test func whatIsNotKnownIsSkippedWithItsReason() {
        let report = DoctorReport(Facts())
        #expect(report.results.count { $0.verdict == .skipped("not looked at") } >= 9)
        #expect(report.text.contains("checks skipped"))
    }
}
