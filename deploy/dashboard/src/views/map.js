// Stations by their coordinates: a plain grid of latitude and longitude, nobody's tiles.
(function (Seismote) {
  "use strict";

  const { h, text, fleet, geo, router, scales, setText, setClass } = Seismote;
  const words = text.overview;

  // map() -> { element, arrange(), show(id), stop() }
  Seismote.map = function map() {
    const grid = h("svg", { class: "grid", "aria-hidden": "true" });
    const bar = h("div", { class: "scale-bar", "aria-hidden": "true" });
    const pins = new Map();
    const plane = h("div", { class: "plane" }, grid, bar);
    const element = h("section", { class: "card map-card", hidden: true, "aria-label": words.mapLabel }, h("h2", {}, words.map), plane);
    let size = { width: 0, height: 0 };

    const located = () => [...fleet.stations.values()].filter(({ info }) => geo.place(info?.station?.latitude, info?.station?.longitude));

    function arrange() {
      const stations = located();
      // One point is no map.
      element.hidden = stations.length < 2;
      const { width, height } = size;
      if (element.hidden || width === 0) return;
      const fitted = geo.fit(stations.map(({ info }) => info.station), width, height, Math.min(56, width / 7));
      const crowded = stations.length > 16;
      const places = fitted.places;
      // Apart from each other, and within the map.
      for (let round = 0; round < 4; round++) {
        geo.spread(places, ...(crowded ? [28, 28] : [84, 46]), 10);
        for (const place of places) {
          place.x = Math.min(width - 30, Math.max(30, place.x));
          place.y = Math.min(height - 34, Math.max(18, place.y));
        }
      }
      const lines = [];
      for (const latitude of fitted.latitudes) {
        const { y } = fitted.at(latitude, 0);
        if (y < 14 || y > height - 10) continue;
        lines.push(h("line", { x1: 0, x2: width, y1: y, y2: y }), h("text", { x: 6, y: y - 4 }, geo.latitude(latitude)));
      }
      for (const longitude of fitted.longitudes) {
        const { x } = fitted.at(0, longitude);
        if (x < 60 || x > width - 44) continue;
        lines.push(h("line", { x1: x, x2: x, y1: 0, y2: height }), h("text", { x: x + 4, y: height - 6 }, geo.longitude(longitude)));
      }
      grid.setAttribute("viewBox", `0 0 ${width} ${height}`);
      grid.replaceChildren(...lines);
      bar.style.width = `${fitted.scale.pixels}px`;
      setText(bar, words.kilometres(fitted.scale.kilometres));
      setClass(plane, "crowded", crowded);
      const left = new Set(pins.keys());
      stations.forEach(({ id }, i) => {
        left.delete(id);
        let pin = pins.get(id);
        if (!pin) {
          const dot = h("span", { class: "dot-step" });
          pin = { dot, element: h("a", { class: "pin", href: router.address("station", id) }, dot, h("span", { class: "pin-name" }, id)) };
          pins.set(id, pin);
          plane.append(pin.element);
        }
        pin.element.style.left = `${places[i].x}px`;
        pin.element.style.top = `${places[i].y}px`;
        show(id);
      });
      for (const id of left) {
        pins.get(id).element.remove();
        pins.delete(id);
      }
    }

    function show(id) {
      const pin = pins.get(id);
      const station = fleet.stations.get(id);
      if (!pin || !station) return;
      const step = station.online === false ? null : scales.intensity(Seismote.card.leading(station));
      const shaking = station.online !== false && station.summary?.triggered === true;
      setText(pin.dot, step?.name ?? "–");
      Seismote.fill(pin.dot, step?.color);
      setClass(pin.element, "shaking", shaking);
      setClass(pin.element, "away", station.online === false);
      const label = words.pin(id, step?.name ?? "–", station.online === false ? text.frame.offline : text.station.trigger[shaking ? "bad" : "good"]);
      if (pin.element.title !== label) {
        pin.element.title = label;
        pin.element.setAttribute("aria-label", label);
      }
    }

    const observer = new ResizeObserver(() => {
      if (plane.clientWidth === size.width && plane.clientHeight === size.height) return;
      size = { width: plane.clientWidth, height: plane.clientHeight };
      arrange();
    });
    observer.observe(plane);
    return { element, arrange, show, stop: () => observer.disconnect() };
  };
})(globalThis.Seismote ??= {});
