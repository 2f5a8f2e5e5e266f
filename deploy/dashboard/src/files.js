// Hands a file to the reader.

import { h } from "./dom.js";
import { fleet } from "./fleet.js";

const types = { csv: "text/csv", mseed: "application/vnd.fdsn.mseed", xml: "application/xml" };

// saveFile("name.csv", text or bytes)
export function saveFile(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: types[name.split(".").pop()] ?? "application/octet-stream" }));
  const anchor = h("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// The codes of a station that files name it by.
export const codesOf = (id) => {
  const { network, code, location } = fleet.stations.get(id)?.info?.station ?? {};
  return { id, network, code, location };
};
