// Subscribes to what is shown, and to no more: a station's numbers, traces and settings while its pages are open, the
// levels of all in the overview. A page in the background hears no levels.
(function (Seismote) {
  "use strict";

  const { link, fleet } = Seismote;
  const watched = new Map();
  // How long a station may be online without a level before its summary is taken instead: an older program.
  const patience = 2500;
  const mostSummaries = 200;

  // Subscribes while anybody watches; returns what ends it.
  function watch(filter, fn) {
    const entry = watched.get(filter) ?? { count: 0, stop: null };
    if (entry.count++ === 0) entry.stop = link.subscribe(filter, fn, { qos: filter.endsWith("/state/summary") ? 0 : 1 });
    watched.set(filter, entry);
    return once(() => {
      if (--entry.count > 0) return;
      entry.stop();
      watched.delete(filter);
    });
  }

  function once(fn) {
    let done = false;
    return () => {
      if (!done) fn();
      done = true;
    };
  }

  const all = (stops) => once(() => stops.forEach((stop) => stop()));

  fleet.watchTraces = (id) => watch(`${link.root}/${id}/data/trace`, fleet.trace);
  // 42 KB.
  fleet.watchSchema = (id) => watch(`${link.root}/${id}/state/config/schema`, fleet.take);
  fleet.watchStation = (id) => all([
    ...["state/summary", "state/health", "state/config", "event/last"].map((what) => watch(`${link.root}/${id}/${what}`, fleet.take)),
    Seismote.waveforms.watch(id),
  ]);
  fleet.watchLastEvents = () => link.subscribe(`${link.root}/+/event/last`, fleet.take, { calm: true });

  fleet.watchLevels = function watchLevels() {
    let stop = null;
    const summaries = new Map();
    const begin = () => (stop ??= link.subscribe(`${link.root}/+/state/level`, fleet.take, { qos: 0, calm: true }));
    const end = () => {
      stop?.();
      stop = null;
      for (const drop of summaries.values()) drop();
      summaries.clear();
    };
    const shown = () => (document.hidden ? end() : begin());
    const look = setInterval(() => {
      if (!stop || !(Date.now() - link.since > patience)) return;
      for (const [id, known] of fleet.stations) {
        const wanted = known.online === true && known.info && !known.level && summaries.size < mostSummaries;
        if (wanted && !summaries.has(id)) summaries.set(id, watch(`${link.root}/${id}/state/summary`, fleet.take));
      }
    }, 1000);
    shown();
    document.addEventListener("visibilitychange", shown);
    return once(() => {
      clearInterval(look);
      document.removeEventListener("visibilitychange", shown);
      end();
    });
  };

  // Whether there is no such station, as far as the broker says: a second after it was asked for what it keeps.
  fleet.isUnknown = (id) => {
    const known = fleet.stations.get(id);
    return link.state === "online" && Date.now() - link.since > 1000 && !(known && (known.online !== null || known.info || known.summary || known.level));
  };
  // Since when nothing has come of a station that is online, in milliseconds; 0 while it speaks.
  fleet.silence = (known) => {
    const away = Date.now() - known.heard;
    const listening = Math.min(Date.now() - link.since, away);
    return known.online !== false && listening > 10000 && away > 10000 ? away : 0;
  };
})(globalThis.Seismote ??= {});
