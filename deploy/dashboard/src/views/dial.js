// The intensity: a half dial in the colours of its scale, the step in words.

import { fillColor, h, setText } from "../dom.js";
import { format } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.intensity;
const centre = { x: 100, y: 100 };

const on = (part, radius) => {
  const angle = Math.PI * (1 - part);
  return `${(centre.x + radius * Math.cos(angle)).toFixed(2)} ${(centre.y - radius * Math.sin(angle)).toFixed(2)}`;
};

// intensityDial(item of `intensity`) -> { element, show(item of `intensity`, highest, seconds that it is of) }
export function intensityDial(first) {
  const steps = scales.scaleOf(first)?.steps ?? [];
  const gap = 0.004;
  const ring = steps.map((step, i) => {
    const a = i / steps.length + gap;
    const b = (i + 1) / steps.length - gap;
    return h("path", { d: `M${on(a, 92)} A92 92 0 0 1 ${on(b, 92)} L${on(b, 74)} A74 74 0 0 0 ${on(a, 74)}Z`, fill: step.color,
      class: "step" });
  });
  const names = steps.map((step, i) => {
    const [x, y] = on((i + 0.5) / steps.length, 83).split(" ");
    return h("text", { x, y, class: "step-name", fill: scales.ink(step.color), "text-anchor": "middle", "dominant-baseline": "central" },
      step.name);
  });
  const needle = h("path", { class: "needle", d: "M96.5 100 L100 30 L103.5 100Z" });
  const highest = h("path", { class: "highest", d: `M100 5 l-5 -8 h10Z`, visibility: "hidden" });
  const title = h("title", {});
  const svg = h("svg", { viewBox: "0 -6 200 112", role: "img", class: "dial" }, title, ring, names, highest, needle,
    h("circle", { cx: 100, cy: 100, r: 6, class: "hub" }));
  const big = h("strong", { class: "step-now" });
  const value = h("span", { class: "quiet number" });
  const window = h("span", { class: "quiet" });
  const relation = h("span", { class: "relation" });
  const most = h("span", { class: "quiet" });
  const element = h("figure", { class: "dial-box" }, svg,
    h("figcaption", {}, big, h("span", { class: "words" }, relation, value, window, most)));
  const turn = (part) => `rotate(${(part * 180 - 90).toFixed(2)} 100 100)`;

  return {
    element,
    show(item, peak, seconds) {
      const step = scales.intensity(item);
      const now = step?.name ?? "–";
      setText(big, now);
      fillColor(big, step?.color, "transparent");
      setText(value, Number.isFinite(item?.value) ? words.value(units.fixed(item.value, 1)) : words.none);
      setText(window, Number.isFinite(seconds) ? words.window(units.duration(seconds)) : "");
      setText(relation, words.relations[item?.relation] ?? item?.relation ?? "");
      needle.setAttribute("transform", turn(scales.position(item)));
      const top = scales.intensity(peak?.item);
      highest.setAttribute("visibility", top ? "visible" : "hidden");
      if (top) highest.setAttribute("transform", turn(scales.position(peak.item)));
      setText(most, top ? words.highest(top.name, format.clock(peak.t)) : "");
      setText(title, top ? words.spokenHighest(words.relations[item?.relation] ?? "", now, top.name)
        : words.spoken(words.relations[item?.relation] ?? "", now));
    },
  };
}
