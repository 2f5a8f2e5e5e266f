// What is drawn of a live graph: the ground while it is triggered, levels as a band, seams, and the name of the axis.
// A view is { box, from, to }: slots from and to at its left and right.

import { plot } from "../canvas.js";

// A pink ground while the axis is triggered, and its 0 or 1 as a line near the lower edge.
const reach = new Float64Array(2);
export function paintTrigger(context, source, axis, { box, from, to }, color) {
  if (!source.has(axis, "triggered")) return;
  const scale = (box.right - box.left) / (to - from);
  const group = Math.max(1, Math.ceil(1 / scale));
  const on = box.bottom - Math.min(26, (box.bottom - box.top) * 0.2);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.6;
  context.beginPath();
  let pen = false;
  let begun = null;
  const fill = (until) => {
    if (begun === null) return;
    context.globalAlpha = 0.13;
    context.fillRect(begun, box.top, until - begun, box.bottom - box.top);
    context.globalAlpha = 1;
    begun = null;
  };
  for (let slot = Math.floor(from / group) * group; slot <= to + group; slot += group) {
    source.extremes(axis, "triggered", slot, slot + group, reach);
    const px = box.left + (slot - from) * scale;
    if (reach[1] !== reach[1]) {
      fill(px);
      pen = false;
      continue;
    }
    const y = reach[1] > 0.5 ? on : box.bottom - 2;
    if (reach[1] > 0.5) begun ??= px;
    else fill(px);
    if (pen) context.lineTo(px, y);
    else context.moveTo(px, y);
    context.lineTo(px + group * scale, y);
    pen = true;
  }
  fill(box.right);
  context.stroke();
}

// The band between the smallest and the largest of each step, with an end where samples begin.
export function paintLevels(context, source, axis, { box, from, to }, y, color) {
  const scale = (box.right - box.left) / (to - from);
  context.fillStyle = color;
  context.globalAlpha = 0.42;
  context.beginPath();
  source.eachLevel(axis, from, to, (slot, slots, low, high) => {
    const [left, right] = [box.left + (slot - from) * scale, box.left + (slot + slots - from) * scale];
    const top = y(high);
    context.rect(left, top, right - left, Math.max(1, y(low) - top));
  });
  context.fill();
  context.globalAlpha = 1;
}

// Where the band and the samples meet, two kinds of values stand beside each other.
export function paintSeams(context, source, axis, { box, from, to }, color) {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  for (const slot of source.seams(axis, from, to)) {
    const x = Math.round(box.left + ((slot - from) * (box.right - box.left)) / (to - from)) + 0.5;
    context.moveTo(x, box.top);
    context.lineTo(x, box.bottom);
  }
  context.stroke();
  context.setLineDash([]);
}

// Where the station began anew, and where its axes began to point elsewhere; names: of these kinds, null for none.
export function paintMarks(context, { marks }, { box, from, to }, names, color) {
  plot.setFont(context, 11);
  context.textBaseline = "bottom";
  for (const { slot, kind } of marks) {
    if (slot < from || slot > to) continue;
    const x = Math.round(box.left + ((slot - from) * (box.right - box.left)) / (to - from)) + 0.5;
    plot.upright(context, x, box, color);
    if (!names) continue;
    const isRight = x + context.measureText(names[kind]).width + 8 < box.right;
    context.fillStyle = color;
    context.textAlign = isRight ? "left" : "right";
    context.fillText(names[kind], x + (isRight ? 4 : -4), box.bottom - 3);
  }
}

// The name of the axis in the upper left corner, readable above what is drawn.
export function paintTitle(context, box, title, colors) {
  plot.setFont(context, 13);
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillStyle = colors.card;
  context.globalAlpha = 0.8;
  context.fillRect(box.left + 4, box.top + 2, context.measureText(title).width + 10, 19);
  context.globalAlpha = 1;
  context.fillStyle = colors.ink;
  context.fillText(title, box.left + 9, box.top + 5);
}
