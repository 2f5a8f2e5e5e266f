import ArgumentParser
import Messages
import Sensors
import ServerOptions
import Threads

/// `seismote probe`: which accelerometers there are, which of them would be used, and what prevents it.
struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Find accelerometers.",
        discussion: """
            sudo seismote probe

            Lists the devices of the kernel's IIO subsystem and the I2C buses, what was recognised and how surely, what \
            `driver: auto` would use, and the commands that grant what is missing. It only reads: of chips nothing but \
            the identity registers, at addresses where a known chip may be and no driver of the kernel is. Exit status \
            1 when there is nothing to use.
            """)

    @Option(help: ArgumentHelp("IIO context: local:, ip:host, usb:.", valueName: "uri"))
    var uri = "local:"

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let survey = Survey.ofThisMachine(uri: uri, everything: true)
        print(json ? String(decoding: survey.value.json(), as: UTF8.self) : survey.text)
        if survey.choice == nil { throw ExitStatus.fault.code }
    }
}
