// Fetches the tiles of the map, where the operator of the page wants them, and keeps those that were seen last.

import { Seismote } from "./page.js";
import { tiles } from "./pure/tiles.js";

const mostKept = 300;
// One that did not come is asked for again after so long (ms).
const retry = 60000;
const images = new Map();
const listeners = new Set();

const setting = tiles.setting(Seismote.settings, document.baseURI);

function image(tile) {
  const url = tiles.address(setting, tile);
  const known = images.get(url);
  if (known && !(known.failed < Date.now() - retry)) {
    // The last used one is the last of the map.
    images.delete(url);
    images.set(url, known);
    return known;
  }
  const made = { element: new Image(), isThere: false, failed: NaN };
  images.set(url, made);
  for (const [old] of images) {
    if (images.size <= mostKept) break;
    images.delete(old);
  }
  made.element.onload = () => {
    made.isThere = true;
    for (const listener of [...listeners]) listener();
  };
  made.element.onerror = () => (made.failed = Date.now());
  // Those who serve tiles to everybody want to know which page asks for them; its host is enough.
  made.element.referrerPolicy = "strict-origin-when-cross-origin";
  made.element.src = url;
  return made;
}

export const mapTiles = {
  // null where there are none.
  setting,
  // Paints what has come of a view; false where it is too wide for tiles.
  paint(context, view, width, height) {
    if (!setting) return false;
    const list = tiles.inside(view, width, height, setting.deepest);
    for (const tile of list) {
      const { isThere, element } = image(tile);
      // (A little wider, so that no seams show.)
      if (isThere) context.drawImage(element, tile.left, tile.top, tile.right - tile.left + 0.5, tile.bottom - tile.top + 0.5);
    }
    return list.length > 0;
  },
  // Calls fn() when one has come; returns what ends that.
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
};
