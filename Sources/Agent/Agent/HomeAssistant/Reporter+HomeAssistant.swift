import Link
import Messages
import Settings

/// What Home Assistant is told, and what comes from it.
extension Reporter {
    /// Home Assistant says on this topic when it has started.
    func isFromHomeAssistant(_ message: InboundMessage) -> Bool {
        guard let prefix = home.place?.prefix else { return false }
        return message.topic == HomeAssistantPlace.status(prefix: prefix)
    }

    /// One of its own messages. One that was kept is from before our connection, after which everything is sent anyway.
    func take(fromHomeAssistant message: InboundMessage, random: UInt64) {
        guard !message.isRetained, message.payload.elementsEqual("online".utf8) else { return }
        home.born(now: HostClock.monotonic(), random: random)
    }

    /// A change of settings was not taken.
    func wasRefused() { home.refused(now: HostClock.monotonic()) }

    /// - Parameter configuration: as it is in force, with the id that topics have.
    func wantHomeAssistant(_ configuration: Configuration) {
        let wanted = configuration.mqtt.homeAssistant
        var place: HomeAssistantPlace?
        if wanted.enabled {
            place = HomeAssistantPlace(prefix: wanted.prefix, id: configuration.station.id, form: wanted.discovery)
        }
        let chip = lastSensor?.chip ?? ""
        let settings = ledger.settings
        let keys = settings.locked.isEmpty ? [] : Messenger.keys(of: SettingsTable.homeAssistant)
        var station = HomeAssistantStation(
            name: configuration.station.description, model: chip, version: productVersion,
            page: wanted.page(of: configuration.station.id), relations: configuration.intensity.scales,
            locked: keys.filter { settings.isLocked($0) }, healthInterval: configuration.health.interval)
        station.hasVibration = configuration.vibration.enabled
        home.want(station, at: place, base: messenger.topics.base, now: HostClock.monotonic())
    }

    func tellHomeAssistant(isConnected: Bool) {
        let link = self.link
        let sink: PublicationSink = { link.publish($0, $1) }
        for action in home.due(now: HostClock.monotonic(), isConnected: isConnected) {
            switch action {
            case .retract(let place): Messenger.retract(place, settings: SettingsTable.homeAssistant, to: sink)
            case .announce(let station, let place):
                messenger.announce(station, settings: SettingsTable.homeAssistant, at: place, to: sink)
            case .repeatStates: _ = link.sendRetainedAgain()
            case .repeatConfiguration: sayConfiguration()
            case .remember(let places):
                if let write = homeMemory.keep(places) { files.put(.homeAssistant, write) }
            }
        }
    }
}
