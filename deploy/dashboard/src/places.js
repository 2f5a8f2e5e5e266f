// The names of places on the map: a file beside the page, fetched when a map is seen for the first time.

import { Seismote } from "./page.js";
import { places } from "./pure/places.js";

// The file's name, as index.html says it; its address is what the browser is told that the page may fetch.
const name = Seismote.places;
let list = null;
const listeners = new Set();

export const mapPlaces = {
  address: name ? new URL(name, document.baseURI).href : null,
  // The places, the most important first; none until they are there, and then the listeners are called.
  list() {
    if (list === null) {
      list = [];
      if (name) {
        Seismote.unpacked(name).then((text) => {
          list = places.parse(text);
          for (const listener of [...listeners]) listener();
        }).catch(() => {});
      }
    }
    return list;
  },
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
};
