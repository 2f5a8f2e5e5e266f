// All stations: a card for each, a map, and the events of all.
(function (Seismote) {
  "use strict";

  const { h, text, fleet, link, setText, preferences } = Seismote;
  const words = text.overview;
  const searchFrom = 9;

  Seismote.view("#/", {
    mount(main) {
      main.className = "overview";
      const cards = new Map();
      const counts = h("p", { class: "counts" });
      const find = h("input", { type: "search", placeholder: words.find, "aria-label": words.find, oninput: filter });
      const grid = h("ul", { class: "cards" });
      const none = h("p", { class: "quiet waiting-note" });
      const map = Seismote.map();
      const events = Seismote.eventList();
      main.append(
        h("div", { class: "overview-head" }, h("div", {}, h("h1", {}, words.title), counts), find),
        none,
        h("div", { class: "upper" }, map.element, events.element),
        grid);

      function filter() {
        const wanted = find.value.trim().toLowerCase();
        let shown = 0;
        for (const [id, card] of cards) {
          const description = fleet.stations.get(id)?.info?.station?.description ?? "";
          card.element.hidden = wanted !== "" && !`${id} ${description}`.toLowerCase().includes(wanted);
          if (!card.element.hidden) shown++;
        }
        say(shown);
      }

      function say(shown) {
        const all = [...fleet.stations.values()];
        none.hidden = all.length > 0 && shown !== 0;
        events.element.hidden = all.length === 0;
        setText(none, all.length > 0 ? words.nothingFound
          : link.state === "online" ? words.none : link.state === "refused" ? words.signIn : link.state === "wrong" ? text.link.wrong(link.url) : words.waiting);
        const online = all.filter((station) => station.online).length;
        const shaking = all.filter((station) => station.online !== false && station.summary?.triggered).length;
        const alerts = all.reduce((sum, station) => sum + station.alerts.size, 0);
        setText(counts, all.length === 0 ? "" : words.counts(all.length, online, shaking, alerts).join(" · "));
        find.hidden = all.length < searchFrom;
      }

      // Whatever came since the last picture is shown in one go: fifty stations speak once a second each.
      const changed = new Set();
      let arrange = false;
      let request = 0;
      function show() {
        request = 0;
        let fresh = false;
        for (const id of changed) {
          const station = fleet.stations.get(id);
          let card = cards.get(id);
          if (!station) {
            card?.element.remove();
            cards.delete(id);
            fresh = true;
            continue;
          }
          if (!card) {
            card = Seismote.card(id);
            cards.set(id, card);
            const after = [...cards.keys()].filter((other) => other > id).sort()[0];
            grid.insertBefore(card.element, after === undefined ? null : cards.get(after).element);
            fresh = true;
          }
          card.show(station);
          map.show(id);
        }
        changed.clear();
        if (fresh || arrange) map.arrange();
        arrange = false;
        if (find.value) filter();
        else say();
      }
      const soon = () => (request ||= setTimeout(show, 100));
      const all = () => {
        for (const id of [...fleet.stations.keys(), ...cards.keys()]) changed.add(id);
        show();
      };
      all();
      const stops = [
        fleet.on("station", (id, what) => {
          if (what === "trace") return;
          changed.add(id);
          if (what === "info") arrange = true;
          soon();
        }),
        preferences.on(all),
        link.on("state", () => say()),
      ];
      return () => {
        clearTimeout(request);
        map.stop();
        events.stop();
        stops.forEach((stop) => stop());
      };
    },
  });

  // Shaking is said to those who do not see the page, whatever they look at.
  document.addEventListener("seismote-onset", ({ detail }) => Seismote.announce(words.onset(detail.id)));
})(globalThis.Seismote ??= {});
