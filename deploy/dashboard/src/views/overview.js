(function (Seismote) {
  "use strict";
  const { h, fleet, router } = Seismote;
  Seismote.view("#/", {
    mount(main) {
      const list = h("ul", {});
      main.append(list);
      const show = () => list.replaceChildren(...[...fleet.stations.keys()].map((id) => h("li", {}, h("a", { href: router.address("station", id) }, id))));
      show();
      return fleet.on("station", show);
    },
  });
})(globalThis.Seismote ??= {});
