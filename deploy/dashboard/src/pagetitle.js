// The title and the icon of the browser's tab: the view's, and while there is an alarm, that, too.

const icons = {
  quiet: ["#0a5cc0", '<path d="M3 17h6l3-9 4 17 4-12 2 4h7" fill="none" stroke="#fff" stroke-width="2.5" stroke-linejoin="round"/>'],
  alarm: ["#d01414", '<path d="M16 6v13M16 23v3" stroke="#fff" stroke-width="4.5"/>'],
};
let view = "";
let alarm = "";
let phase = 0;

function icon(name) {
  const [color, mark] = icons[name];
  const element = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
  if (element.dataset.shown === name) return;
  element.dataset.shown = name;
  const ground = `<rect width="32" height="32" rx="7" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${ground}${mark}</svg>`;
  element.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function show() {
  // What is in front of a long title is what a narrow tab shows.
  document.title = alarm ? `${phase % 2 ? "△" : "▲"} ${alarm} – ${view}` : view;
  icon(alarm && phase % 2 === 0 ? "alarm" : "quiet");
}

export const pageTitle = {
  set(text) {
    view = text;
    show();
  },
  get: () => view,
  // "" when there is none.
  alarm(text) {
    if (alarm === text) return;
    alarm = text;
    phase = 0;
    show();
  },
};

setInterval(() => {
  if (!alarm) return;
  phase++;
  show();
}, 1000);
