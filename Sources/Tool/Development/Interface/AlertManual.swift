import Alerts
import Messages

/// The documentation of the alerts (Markdown), made from their declarations.
package enum AlertManual {
    package static var text: String {
        var text = """
            # Alerts

            This page lists each alert: what it means, and how to fix its cause. `seismote ctl alerts` lists the present alerts of a station, and so do the page, `state/health` and Home Assistant.

            An alert is a fault that a station has now. The agent publishes it as a retained message on `<root>/<id>/state/alert/<code>`, and clears the topic with an empty message when the fault is gone.

            ```bash run
            seismote ctl alerts --all
            mosquitto_sub -v -t 'seismote/+/state/alert/+' -W 2 || true
            ```

            (On a broker with TLS, write its [address and your account once](../install/broker.md#mosquitto_sub) for `mosquitto_sub`.)

            A message has `code`, `severity`, `since`, `message` (a sentence) and `details` (for programs). `error` means that data or events are missing or wrong, or that a limit is reached; `warning` means that they may be. No alert ends the agent.

            At start the agent clears the alerts of an earlier run: those about opening the sensor as soon as the result is known, the others a minute later.

            `seismote interface alerts` makes this page from the declarations.

            """
        for chapter in AlertChapter.all {
            text += "\n## \(chapter.title)\n"
            for alert in chapter.alerts { text += section(alert.declaration) }
        }
        return text
    }

    private static func section(_ alert: AlertDeclaration) -> String {
        let severity = alert.severity.rawValue.prefix(1).uppercased() + alert.severity.rawValue.dropFirst()
        let lesser = alert.lesser.map { ", or warning \($0)" } ?? ""
        return "\n### \(alert.code)\n\n\(severity)\(lesser). \(alert.meaning)\n\n"
            + (alert.details.map { "`details`: \($0)\n\n" } ?? "")
            + "To fix: \(alert.remedy).\(alert.see.map { " See \($0)." } ?? "")\n"
    }
}
