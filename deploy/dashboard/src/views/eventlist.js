// Events, the newest first: of one station, or of all.
(function (Seismote) {
  "use strict";

  const { h, text, fleet, router, units, preferences } = Seismote;
  const words = text.events;
  const most = 50;

  // eventList(id or undefined) -> { element, stop() }
  Seismote.eventList = function eventList(id) {
    const body = h("tbody", {});
    const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title }, h("table", { class: "events" },
      h("thead", {}, h("tr", {}, [words.onset, id === undefined ? words.station : null, words.intensity, words.pga, id === undefined ? null : words.pgv, words.duration,
        id === undefined ? null : words.detectors].filter(Boolean)
        .map((word) => h("th", { scope: "col" }, word)))),
      body));
    const none = h("p", { class: "quiet" }, words.none);

    function row({ station, id: eventId, ended, event }) {
      return h("tr", { class: ended ? "" : "running" },
        h("td", {}, h("a", { href: router.address("station", station, "event", eventId) }, Seismote.format.dateTime(event.onset)),
          event.test ? h("span", { class: "badge" }, words.test) : null,
          ended ? null : h("span", { class: "badge", dataset: { state: "bad" } }, words.running)),
        id === undefined ? h("td", {}, h("a", { href: router.address("station", station) }, station)) : null,
        h("td", {}, h("span", { class: "chips" }, (event.intensity ?? []).map(Seismote.intensityChip))),
        h("td", {}, Seismote.format.acceleration(event.pga)),
        id === undefined ? null : h("td", {}, Seismote.format.velocity(event.pgv)),
        h("td", {}, Number.isFinite(event.duration_s) ? units.duration(event.duration_s) : "–"),
        id === undefined ? null : h("td", { class: "quiet" }, [...new Set((event.detectors ?? []).map((detector) => words.names[detector.name] ?? detector.name))].join(", ")));
    }

    let due = null;
    function show() {
      due = null;
      const events = fleet.newestEvents(id).slice(0, most);
      none.hidden = events.length > 0;
      table.hidden = events.length === 0;
      // The focus stays where it was.
      const focused = document.activeElement?.closest?.("td") ? document.activeElement.getAttribute("href") : null;
      body.replaceChildren(...events.map(row));
      if (focused) body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    }
    // Many stations begin at once: once for all of them.
    const soon = () => (due ??= setTimeout(show, 150));
    show();
    const stops = [fleet.on("station", (which, what) => what === "event" && (id === undefined || which === id) && soon()), preferences.on(soon)];
    return {
      element: h("section", { class: "card events-card" }, h("h2", {}, words.title), table, none),
      stop() {
        clearTimeout(due);
        stops.forEach((stop) => stop());
      },
    };
  };
})(globalThis.Seismote ??= {});
