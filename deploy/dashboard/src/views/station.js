(function (Seismote) {
  "use strict";
  Seismote.view("#/station/:id", {
    title: ({ id }) => id,
    mount(main, { id }) {
      const head = Seismote.stationHead(id, "live");
      main.append(head.element);
      const stop = Seismote.fleet.watchTraces(id);
      return () => (head.stop(), stop());
    },
  });
})(globalThis.Seismote ??= {});
