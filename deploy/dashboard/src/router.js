// Which view is shown: the part of the address behind #.

import { announce, h } from "./dom.js";
import { pageTitle } from "./pagetitle.js";
import { text } from "./text.js";

const views = [];
let leave = null;
let current = null;

// What may stand in an address for a part of a pattern: these go into topics and names of files.
const part = {
  __proto__: null, id: "([A-Za-z0-9_-]{1,64})", event: "([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})", time: "(\\d{8}T\\d{6}Z)",
  group: "([A-Za-z0-9_-]{1,64})", day: "(\\d{4}-\\d\\d-\\d\\d)", span: "(hour|day|week|month|year)",
};

// defineView("#/station/:id", { title(params), mount(element, params) -> unmount }). `title` is optional.
/** @param {string} pattern @param {{ mount: (main: HTMLElement, params: any) => any, title?: (params: any) => string }} view */
export function defineView(pattern, { mount, title }) {
  const names = [];
  const expression = pattern.replace(/:([a-z]+)/g, (_, name) => {
    names.push(name);
    return part[name];
  });
  views.push({ pattern, expression: new RegExp(`^${expression}$`), names, mount, title });
}

function show() {
  // The link that skips to the content is no place of its own.
  if (location.hash === "#main") return;
  const hash = location.hash === "" || location.hash === "#" ? "#/" : location.hash;
  if (hash === current) return;
  const main = document.getElementById("main");
  if (leave) leave();
  leave = null;
  main.replaceChildren();
  main.className = "";
  const first = current === null;
  current = hash;
  scrollTo(0, 0);
  for (const view of views) {
    const found = view.expression.exec(hash);
    if (!found) continue;
    const params = Object.fromEntries(view.names.map((name, i) => [name, found[i + 1]]));
    const title = view.title?.(params);
    pageTitle.set(title ? `${title} – ${text.title}` : text.title);
    leave = view.mount(main, params) ?? null;
    if (!first) {
      main.focus({ preventScroll: true });
      announce(pageTitle.get());
    }
    document.dispatchEvent(new CustomEvent("seismote-view", { detail: { pattern: view.pattern, params } }));
    return;
  }
  main.append(h("p", { class: "quiet" }, text.frame.notFound));
}

export const router = {
  start() {
    addEventListener("hashchange", show);
    show();
  },
  // The address of a view: address("station", "demo", "settings")
  address: (...parts) => "#/" + parts.map(encodeURIComponent).join("/"),
};
