// All text of the page, for translation. Functions take what is put into the text.
(function (Seismote) {
  "use strict";

  Seismote.text = {
    title: "Seismote",
    close: "Close",

    frame: {
      stations: "Stations",
      units: "Unit",
      times: "Times",
      utc: "UTC",
      local: "Local",
      theme: "Theme",
      themes: { auto: "Automatic", light: "Light", dark: "Dark" },
      connection: "Connection",
      display: "Display",
      home: "Seismote, all stations",
      where: "Where this is",
      pages: (id) => `Pages of ${id}`,
      tabs: { live: "Live", settings: "Settings", event: "Event" },
      online: "online",
      offline: "offline",
      unknown: "not known",
      notFound: "There is no such page.",
      back: "All stations",
    },

    link: {
      states: {
        idle: "Not connected",
        connecting: "Connecting",
        online: "Connected",
        waiting: "Disconnected",
        refused: "Sign-in needed",
      },
      again: (seconds) => `next try in ${seconds} s`,
      lost: "The connection to the broker is lost.",
      back: "Connected to the broker.",
      denied: "The broker did not accept this user and password.",
      needed: "The broker asks for a user and a password.",
      user: "User",
      password: "Password",
      keep: "Remember in this tab",
      signIn: "Sign in",
      otherUser: "Sign in as another user",
      cancel: "Cancel",
      timeout: (station, verb) => `${station} did not answer “${verb}”.`,
      offline: "There is no connection to the broker.",
      failed: (verb) => `“${verb}” was refused.`,
      mayNot: (verb) => `The broker does not let this user send “${verb}”.`,
      details: (url, root, version) => `${url}, topics below ${root}, MQTT ${version === 5 ? "5" : "3.1.1"}`,
    },
  };
})(globalThis.Seismote ??= {});
