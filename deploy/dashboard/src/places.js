// Coasts, borders and names of places on the map: a file beside the page, fetched when a map is seen for the first time.

import { Seismote } from "./page.js";
import { places } from "./pure/places.js";

// The file's name, as index.html says it; its address is what the browser is told that the page may fetch.
const name = Seismote.places;
let list = null;
let coastlines = null;
const listeners = new Set();

export const mapPlaces = {
  address: name ? new URL(name, document.baseURI).href : null,
  // The places, the most important first; none until they are there, and then the listeners are called.
  list() {
    if (list === null) {
      list = [];
      if (name) {
        Seismote.unpacked(name).then((text) => {
          const end = text.indexOf("\n");
          coastlines = JSON.parse(text.slice(0, end));
          list = places.parse(text.slice(end + 1));
          for (const listener of [...listeners]) listener();
        }).catch(() => {});
      }
    }
    return list;
  },
  // Lines of longitude and latitude in whole steps, each point as the difference from the one before: { step (degrees), coast,
  // border }; null until they are there.
  coastlines: () => mapPlaces.list() && coastlines,
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
};
