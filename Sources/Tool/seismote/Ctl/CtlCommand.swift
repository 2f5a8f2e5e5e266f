import ArgumentParser
import MQTT
import ServerOptions

/// `seismote ctl ...`: stations over MQTT.
struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Monitor and configure stations over MQTT.",
        discussion: """
            Exit status: 0 all done; 1 a station refused, or did a part only; 2 a station is offline or did not answer \
            in time; 64 wrong arguments; 69 no broker; 74 a file cannot be read or written; 78 wrong settings; 130 \
            interrupted.

            With --json every line of the output is one JSON object.

            The broker, for every subcommand: from these options, else from the environment, else from an agent's settings \
            file (--config, SEISMOTE_CONFIG; without a broker \(BrokerOptions.usualFile) where there is one), else \
            mqtt://localhost:1883.

            \(BrokerOptions.page)
            """,
        subcommands: [
            ListCommand.self, WatchCommand.self, EventsCommand.self, EventCommand.self, LabelCommand.self,
            HistoryCommand.self,
            StatusCommand.self, AlertsCommand.self,
            GetCommand.self, SetCommand.self, EditCommand.self, ConfirmCommand.self, RollbackCommand.self,
            ResetCommand.self, SnapshotCommand.self, StreamCommand.self, LogCommand.self, CalibrateStationCommand.self,
            SelfTestStationCommand.self, TestEventCommand.self, ResetExtremesCommand.self, PingCommand.self,
            RebirthCommand.self, RestartCommand.self, UpdateCommand.self, UpdateConfirmCommand.self, AskCommand.self,
        ], defaultSubcommand: AskCommand.self)
}

/// Exit statuses of `seismote ctl`; numbers from 64 on as in sysexits.h.
enum CtlStatus: Int32 {
    case done = 0
    case refused = 1
    case silent = 2
    case broker = 69
    case files = 74
    /// Try again later: EX_TEMPFAIL of sysexits.
    case unready = 75
    case settings = 78
    case interrupted = 130
}

/// An end with a sentence.
struct CtlError: Error {
    var status: CtlStatus
    var message: String

    init(status: CtlStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}

/// Runs a command; what goes wrong is said on standard error.
func ctl(_ body: () throws -> CtlStatus) throws {
    var status: CtlStatus
    do {
        status = try body()
    } catch let error as ClientError {
        if Interrupt.came { throw ExitCode(CtlStatus.interrupted.rawValue) }
        printError(error.description)
        status = .broker
    } catch let error as CtlError {
        printError(error.message)
        status = error.status
    } catch let error as OutputError {
        printError(error.description)
        status = .files
    } catch let error as SecretError {
        printError(error.message)
        status = .files
    }
    if status != .done { throw ExitCode(status.rawValue) }
}
