// What is around every view: the bar with the connection and the display settings, the sign-in, and the head of a
// station's pages.
(function (Seismote) {
  "use strict";

  const { h, link, text, preferences, setText } = Seismote;
  const words = text.frame;

  function choice(name, label, options) {
    const select = h("select", { onchange: () => preferences.set(name, select.value) },
      options.map(([value, shown]) => h("option", { value }, shown)));
    select.value = preferences.get(name);
    preferences.on((changed, value) => {
      if (changed === name) select.value = value;
    });
    return h("label", { class: "choice" }, h("span", {}, label), select);
  }
  // A choice of the unit of acceleration that other views can show too.
  Seismote.unitChoice = () =>
    choice("unit", words.units, Seismote.units.all.map((unit) => [unit, Seismote.units.label(unit)]));

  function mark() {
    return h("svg", { viewBox: "0 0 32 20", class: "mark", "aria-hidden": "true", focusable: "false" },
      h("path", { d: "M1 10h6l2-4 3 10 4-15 4 18 3-12 2 3h6", fill: "none", stroke: "currentColor", "stroke-width": "2.2",
        "stroke-linecap": "round", "stroke-linejoin": "round" }));
  }

  function bar() {
    const state = h("button", { type: "button", class: "connection", onclick: () => (link.state === "refused" ? signIn() : showLink()) });
    const word = h("span", {});
    state.append(h("span", { class: "dot", "aria-hidden": "true" }), word);
    const show = () => {
      state.dataset.state = link.state;
      const wait = Math.max(1, Math.ceil((link.retryAt - Date.now()) / 1000));
      setText(word, text.link.states[link.state] + (link.state === "waiting" ? `, ${text.link.again(wait)}` : ""));
    };
    setInterval(() => link.state === "waiting" && show(), 1000);
    let was = "idle";
    link.on("state", (now) => {
      show();
      if (now === "refused") signIn();
      if (now === "wrong") showLink();
      if (now === "waiting" && was === "online") Seismote.announce(text.link.lost);
      if (now === "online") Seismote.announce(text.link.back);
      document.body.dataset.link = now;
      was = now;
    });
    show();
    const menu = h("details", { class: "menu" }, h("summary", {}, words.display),
      h("div", { class: "panel" },
        Seismote.unitChoice(),
        choice("time", words.times, [["local", words.local], ["utc", words.utc]]),
        choice("theme", words.theme, Object.entries(words.themes))));
    addEventListener("click", (event) => {
      if (menu.open && !menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    document.getElementById("bar").replaceChildren(
      h("a", { class: "brand", href: "#/", "aria-label": words.home }, mark(), h("span", {}, text.title)), h("span", { class: "space" }), state, menu);
  }

  function showLink() {
    return Seismote.dialog({
      title: words.connection,
      content: [
        h("p", {}, link.state === "wrong" ? text.link.wrong(link.url) : text.link.states[link.state], link.user ? ` (${link.user})` : ""),
        h("p", { class: "quiet" }, text.link.details(link.url, link.root, link.version)),
      ],
      actions: [{ label: text.link.otherUser, value: "user" }, { label: text.close, value: null, primary: true }],
    }).then((answer) => answer === "user" && signIn());
  }

  // The host and port of a broker that the page did not come from: a link to this page may name any.
  function elsewhere() {
    const host = Seismote.policy.origin(link.url)?.replace(/^wss?:\/\//, "") ?? "";
    return host === location.host ? "" : host;
  }

  let asking = false;
  async function signIn() {
    if (asking) return;
    asking = true;
    const user = h("input", { type: "text", autocomplete: "username", value: link.user, required: true, name: "user" });
    const password = h("input", { type: "password", autocomplete: "current-password", name: "password" });
    const keep = h("input", { type: "checkbox", checked: true });
    const answer = await Seismote.dialog({
      title: text.link.signIn,
      className: "sign-in",
      content: [
        h("p", { role: "alert" }, link.state === "refused" ? (link.user ? text.link.denied : text.link.needed) : ""),
        elsewhere() && h("p", { class: "strong elsewhere" }, text.link.elsewhere(elsewhere())),
        h("label", { class: "field" }, text.link.user, user),
        h("label", { class: "field" }, text.link.password, password),
        h("label", { class: "tick" }, keep, text.link.keep),
      ],
      actions: [{ label: text.link.cancel, value: null }, { label: text.link.signIn, value: true, primary: true }],
    });
    asking = false;
    if (answer) link.connect({ user: user.value, password: password.value, keep: keep.checked });
  }

  // The head of a station's pages: its name, whether it is online, and where else there is to go. `active` is one of
  // "live", "settings", "event". { element, stop() }
  Seismote.stationHead = function stationHead(id, active) {
    const { fleet, router } = Seismote;
    const state = h("span", { class: "badge" });
    const about = h("p", { class: "quiet about" });
    const tab = (name, ...parts) =>
      h("a", { href: router.address("station", id, ...parts), "aria-current": name === active ? "page" : null }, words.tabs[name]);
    const element = h("div", { class: "station-head" },
      h("nav", { class: "crumbs", "aria-label": words.where }, h("a", { href: "#/" }, words.stations), h("span", { "aria-hidden": "true" }, "/")),
      h("div", { class: "title" }, h("h1", {}, id), state),
      about,
      h("nav", { class: "tabs", "aria-label": words.pages(id) }, tab("live"), tab("settings", "settings"),
        active === "event" ? h("a", { href: location.hash, "aria-current": "page" }, words.tabs.event) : null));
    const show = () => {
      const station = fleet.stations.get(id);
      const online = station?.online;
      state.dataset.state = online === true ? "good" : online === false ? "bad" : "unknown";
      setText(state, online === true ? words.online : online === false ? words.offline : words.unknown);
      const { description, network, code } = station?.info?.station ?? {};
      setText(about, [description, network && code ? `${network}.${code}` : null].filter(Boolean).join(" · "));
    };
    show();
    const stop = fleet.on("station", (which, what) => {
      if (which === id && (what === "online" || what === "info")) show();
    });
    return { element, stop };
  };

  Seismote.frame = { bar, signIn };
})(globalThis.Seismote ??= {});
