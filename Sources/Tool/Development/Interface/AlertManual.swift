import Alerts
import Messages

/// The documentation of the alerts (Markdown), made from their declarations.
package enum AlertManual {
    package static var text: String {
        var text = """
            # Alerts

            An alert is a fault that a station has now. It is a retained message on `<root>/<id>/state/alert/<code>`; when the fault is gone the message is emptied. A new run of the agent empties each alert that a run before it may have left and that is not there any more, those of opening the sensor once it is known whether that works, the others a minute later. Which those are stands in `alerts.json` of `storage.directory`; without that file all codes are emptied, and those of the storage always. What was emptied over a connection that held for a minute is taken out of the file. `seismote ctl alerts` lists them, and so do the page, `state/health` and Home Assistant.

            ```bash run
            seismote ctl alerts --all
            mosquitto_sub -h localhost -v -t 'seismote/+/state/alert/+' -W 2 || true
            ```

            A message has `code`, `severity` (`error`: data or events are missing or wrong, or a limit is reached; `warning`: they may be), `since`, `message` (a sentence) and `details` (for programs). No alert ends the agent. This page is made from the declarations by `seismote interface alerts`.

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
