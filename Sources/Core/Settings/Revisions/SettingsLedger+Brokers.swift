import Messages

/// Which broker gets what the station has to get in with.
extension SettingsLedger {
    /// Settings as the link may use them. What the settings file has to get in with (user, password, certificate, shared
    /// key) goes to the brokers that the file names. As soon as a command names another, none of it leaves, and the
    /// station gets in with what was set remotely, or with nothing.
    public func guarded(_ settings: LoadedSettings) -> Configuration {
        var configuration = settings.configuration
        guard !configuration.mqtt.uris.allSatisfy(isNamedByFile) else { return configuration }
        func isRemote(_ key: String) -> Bool { settings.origins[key]?.source == .overlay }
        if !isRemote("mqtt.username") { configuration.mqtt.username = "" }
        if !isRemote("mqtt.password") { configuration.mqtt.password = "" }
        configuration.mqtt.passwordFile = ""
        (configuration.mqtt.tls.certFile, configuration.mqtt.tls.keyFile) = ("", "")
        (configuration.mqtt.tls.pskIdentity, configuration.mqtt.tls.pskFile) = ("", "")
        return configuration
    }

    /// Settings as this process can work with them: those that take effect at the next start only are as they were at this
    /// one, and what the station gets in with goes to no broker that it is not for.
    public func inForce(_ settings: LoadedSettings) -> Configuration {
        var mixed = guarded(settings)
        var findings = Findings()
        for setting in SettingsTable.settings where setting.apply == .restart {
            for (key, axis) in setting.concreteKeys {
                setting.read(setting.write(initial.configuration, axis), Pointer.of(key: key), axis, &mixed, &findings)
            }
        }
        return mixed
    }

    /// The revision whose connection is on trial: what a broker takes meanwhile counts once the change is confirmed. 0:
    /// none is.
    public var connectionTrial: Int { pending?.needsNewConnection == true ? revision : 0 }

    func isNamedByFile(_ uri: String) -> Bool { named.contains { Self.isSame($0, uri) } }

    /// A change that takes the encryption away which a command must not take away; nil: it does not.
    func downgrade(_ new: Configuration) -> CodedError? {
        let old = settings.configuration.mqtt
        let plain = new.mqtt.uris.first { uri in
            !Self.isEncrypted(uri) && !isNamedByFile(uri) && !old.uris.contains { Self.isSame($0, uri) }
        }
        guard let plain, old.uris.contains(where: Self.isEncrypted) else { return nil }
        return CodedError(
            "/mqtt/uri", .downgrade, "A command must not replace an encrypted connection by an unencrypted one.",
            got: .string(plain), allowed: "mqtts://, or a broker that the settings file names", source: .overlay)
    }

    /// An overlay without the user and the password that were set remotely for other brokers than those that the patch
    /// names; nil: there are none.
    func withoutOldCredentials(_ proposal: Proposal, _ patch: Layer) -> Value? {
        let old = settings.configuration.mqtt.uris
        let isNew = proposal.settings.configuration.mqtt.uris.contains { uri in
            !old.contains { Self.isSame($0, uri) }
        }
        guard isNew else { return nil }
        let stale = ["mqtt.username", "mqtt.password"].filter { key in
            SettingsTree.value(at: key, in: proposal.overlay) != nil
                && !patch.given.contains { $0.key == key && $0.value != .string(Secrets.mask) }
        }
        guard !stale.isEmpty else { return nil }
        return MergePatch.apply(SettingsTree.build(stale.map { ($0, .null) }), to: proposal.overlay)
    }

    private static func isEncrypted(_ uri: String) -> Bool { uri.hasPrefix("mqtts://") }

    /// Whether two addresses (that are valid) are those of one broker.
    private static func isSame(_ a: String, _ b: String) -> Bool { full(a) == full(b) }

    /// With its port.
    private static func full(_ uri: String) -> String {
        let uri = uri.lowercased()
        // `mqtt://host`, or an IPv6 address in brackets, with nothing behind.
        let isBare = uri.last == "]" || !uri.contains("[") && uri.count(where: { $0 == ":" }) == 1
        return isBare ? "\(uri):\(MQTTConfiguration.standardPort(isEncrypted: isEncrypted(uri)))" : uri
    }
}
