// Hands a file to the reader.
(function (Seismote) {
  "use strict";

  const types = { csv: "text/csv", mseed: "application/vnd.fdsn.mseed", xml: "application/xml" };

  // save("name.csv", text or bytes)
  Seismote.save = function save(name, content) {
    const url = URL.createObjectURL(new Blob([content], { type: types[name.split(".").pop()] ?? "application/octet-stream" }));
    const anchor = Seismote.h("a", { href: url, download: name });
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };

  // The codes of a station that files name it by.
  Seismote.codesOf = (id) => {
    const { network, code, location } = Seismote.fleet.stations.get(id)?.info?.station ?? {};
    return { id, network, code, location };
  };
})(globalThis.Seismote ??= {});
