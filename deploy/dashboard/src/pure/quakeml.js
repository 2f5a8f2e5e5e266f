// Events as QuakeML 1.2: the onset as a pick, peak acceleration and velocity as amplitudes, intensities as comments. One
// station knows no origin, so there is none.
import { mercalli } from "./mercalli.js";

const escape = (value) => String(value).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
const name = (text) => String(text).replace(/[^A-Za-z0-9_.-]/g, "-");
const number = (value) => String(Number(value));

// What a station's class or a person's label is in QuakeML's list of types.
const kinds = {
  __proto__: null, earthquake: "earthquake", explosion: "explosion", train: "other event", truck: "other event", disturbance: "other event",
  footsteps: "other event", door: "other event", furniture: "other event", knock: "other event", jump: "other event",
    machine: "other event",
  moved: "other event", other: "other event", wind: "other event",
};

const element = (tag, content, attributes = "") => `<${tag}${attributes}>${content}</${tag}>`;
const quantity = (tag, value) => element(tag, element("value", escape(value)));

function event(object, { id, network, code, location }) {
  const own = `smi:local/seismote/${name(id)}/${name(object.event_id)}`;
  const place = location ? ` locationCode="${escape(location)}"` : "";
  const codes = ` networkCode="${escape(network || "XX")}" stationCode="${escape(code || id.slice(0, 5))}"${place}`;
  const said = object.label ?? (object.class?.likely === "unclassified" ? undefined : object.class?.likely);
  const comments = [];
  for (const item of object.intensity ?? []) {
    const by = item.relation ? ` (${item.relation})` : "";
    const doubt = mercalli.isCertain(item) ? "" : ", not certain";
    if (Number.isFinite(item.value)) comments.push(`intensity ${item.scale} ${number(item.value)}${by}${doubt}`);
  }
  if (object.class?.p !== undefined) comments.push(`class ${object.class.likely}, p ${number(object.class.p)}, by this station alone`);
  if (object.label) comments.push(`label ${object.label}`);
  if (object.test) comments.push("test event");
  if (object.acceleration_valid === false) comments.push("peak acceleration not certain: samples are missing, or it began in motion");
  if (object.velocity_valid === false) comments.push("peak velocity not certain: samples are missing, or it began in motion");
  const amplitudes = [["pga", "PGA", "m/(s*s)"], ["pgv", "PGV", "m/s"]].filter(([key]) =>
    Number.isFinite(object[key])).map(([key, type, unit]) =>
    element("amplitude", quantity("genericAmplitude", number(object[key])) + element("type", type) + element("unit",
      unit) + element("pickID", `${own}/pick`) +
      element("waveformID", "", codes), ` publicID="${own}/${key}"`));
  return element("event",
    (kinds[said] ? element("type", kinds[said]) + element("typeCertainty", object.label ? "known" : "suspected") : "") +
    element("description", element("text", escape(`${id}: ${object.event_id}`))) +
    comments.map((text) => element("comment", element("text", escape(text)))).join("") +
    element("pick", quantity("time", object.onset) + element("waveformID", "", codes) + element("evaluationMode", "automatic"),
      ` publicID="${own}/pick"`) +
    amplitudes.join(""), ` publicID="${own}"`);
}

// Where the place lies with a probability of 90 %, as WKT (longitude, latitude), for which QuakeML has no element.
function regionText(region) {
  const ring = ({ latitude, longitude }) =>
    `((${[...latitude.keys(), 0].map((i) => `${number(longitude[i])} ${number(latitude[i])}`).join(", ")}))`;
  const rings = (region ?? []).filter(({ latitude, longitude }) => latitude.length > 2 && latitude.length === longitude.length);
  return rings.length > 0 && `region of 90 %: MULTIPOLYGON (${rings.map(ring).join(", ")})`;
}

const kilometres = (tag, value) => (Number.isFinite(value) ? element(tag, number(value * 1000)) : "");

// An event of the network: origin with its uncertainty, magnitude, the onsets as picks and arrivals.
function networkEvent(object) {
  const own = `smi:local/seismote/network/${name(object.event_id)}`;
  const { ellipse, magnitude, place, stations = [] } = object;
  const picks = stations.filter(({ id, onset }) => id && onset).map((one) => ({ ...one, pick: `${own}/pick/${name(one.id)}` }));
  const uncertainty = Number.isFinite(ellipse?.semi_major_km) && Number.isFinite(ellipse.semi_minor_km)
    ? element("originUncertainty", kilometres("maxHorizontalUncertainty", ellipse.semi_major_km) + kilometres("minHorizontalUncertainty",
      ellipse.semi_minor_km) +
      (Number.isFinite(ellipse.azimuth_deg) ? element("azimuthMaxHorizontalUncertainty", number(ellipse.azimuth_deg))
        : "") + element("preferredDescription", "uncertainty ellipse") + element("confidenceLevel", "68")) : "";
  const origin = element("origin", quantity("time", object.origin_time) + quantity("latitude",
    number(object.latitude)) + quantity("longitude", number(object.longitude)) +
    (Number.isFinite(object.depth_km) ? quantity("depth", number(object.depth_km * 1000)) : "") + uncertainty +
    picks.map((one) => element("arrival", element("pickID", one.pick) + element("phase",
      one.phase ?? "P") + (Number.isFinite(one.residual_s) ? element("timeResidual", number(one.residual_s)) : "") +
      (Number.isFinite(one.distance_km) ? element("distance", number(one.distance_km / 111.195)) : ""),
        ` publicID="${one.pick}/arrival"`)).join("") +
    element("quality", element("usedPhaseCount", number(picks.length)) + (Number.isFinite(object.rms_s)
      ? element("standardError", number(object.rms_s)) : "")) +
    element("evaluationMode", "automatic"), ` publicID="${own}/origin"`);
  const size = Number.isFinite(magnitude?.value) ? element("magnitude",
    element("mag", element("value", number(magnitude.value)) + (Number.isFinite(magnitude.sigma)
      ? element("uncertainty", number(magnitude.sigma)) : "")) + element("type", "M") +
      element("originID", `${own}/origin`) + (magnitude.relation ? element("methodID", `smi:local/${name(magnitude.relation)}`) : ""),
        ` publicID="${own}/magnitude"`) : "";
  const isOutside = place?.quality === "outside" && Number.isFinite(place.azimuth_deg);
  const towards = isOutside ? `, towards ${number(place.azimuth_deg)} degrees from the middle of the stations` : "";
  const at = object.mmi?.station ? ` at ${object.mmi.station}` : "";
  const doubt = object.disputed_because === "lone_operator" ? "one operator's stations alone report it" : "stations nearby are silent";
  const comments = [
    place?.quality && `place: ${place.quality}${towards}`,
    regionText(place?.region), object.disputed && `disputed: ${doubt}`,
    Number.isFinite(object.mmi?.value) && `largest intensity mmi ${number(object.mmi.value)}${at}`, object.withdrawn && "withdrawn",
  ].filter(Boolean);
  return element("event",
    element("preferredOriginID", `${own}/origin`) + (size ? element("preferredMagnitudeID", `${own}/magnitude`) : "") +
    element("type", object.withdrawn ? "not existing" : object.class === "disturbance" ? "other event" : "earthquake") +
      (object.withdrawn ? "" : element("typeCertainty", "suspected")) +
    comments.map((text) => element("comment", element("text", escape(text)))).join("") +
    picks.map((one) => element("pick", quantity("time", one.onset) + element("waveformID", "",
      ` networkCode="XX" stationCode="${escape(one.id.slice(0, 8))}"`) + element("phaseHint", one.phase ?? "P") +
      element("evaluationMode", "automatic"), ` publicID="${one.pick}"`)).join("") + origin + size, ` publicID="${own}"`);
}

const document = (events, id) => '<?xml version="1.0" encoding="UTF-8"?>\n' + element("q:quakeml",
  element("eventParameters", `\n${events.join("\n")}\n`, ` publicID="smi:local/seismote/${name(id)}"`),
  ' xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"') + "\n";

// The document of these events of one station: { id, network, code, location }.
const quakeML = (events, station) => document(events.map((one) => event(one, station)), station.id);
// Of events of the network.
const networkQuakeML = (events) => document(events.map(networkEvent), "network");
// Of both: [{ station (its codes) or null, event }].
const catalogueQuakeML = (list) => document(list.map(({ station, event: one }) => (station ? event(one, station) : networkEvent(one))),
  "catalogue");

export { catalogueQuakeML, networkQuakeML, quakeML };
