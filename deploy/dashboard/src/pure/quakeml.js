// Events as QuakeML 1.2: the onset as a pick, peak acceleration and velocity as amplitudes, intensities as comments. One
// station knows no origin, so there is none.
const escape = (value) => String(value).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
const name = (text) => String(text).replace(/[^A-Za-z0-9_.-]/g, "-");
const number = (value) => String(Number(value));

// What a station's class or a person's label is in QuakeML's list of types.
const kinds = {
  __proto__: null, earthquake: "earthquake", explosion: "explosion", train: "other event", truck: "other event", disturbance: "other event",
  footsteps: "other event", door: "other event", furniture: "other event", knock: "other event", jump: "other event", machine: "other event",
  moved: "other event", other: "other event", wind: "other event",
};

const element = (tag, content, attributes = "") => `<${tag}${attributes}>${content}</${tag}>`;
const quantity = (tag, value) => element(tag, element("value", escape(value)));

function event(object, { id, network, code, location }) {
  const own = `smi:local/seismote/${name(id)}/${name(object.event_id)}`;
  const codes = ` networkCode="${escape(network || "XX")}" stationCode="${escape(code || id.slice(0, 5))}"${location ? ` locationCode="${escape(location)}"` : ""}`;
  const said = object.label ?? (object.class?.likely === "unclassified" ? undefined : object.class?.likely);
  const comments = [];
  for (const item of object.intensity ?? []) {
    if (Number.isFinite(item.value)) comments.push(`intensity ${item.scale} ${number(item.value)}${item.relation ? ` (${item.relation})` : ""}`);
  }
  if (object.class?.p !== undefined) comments.push(`class ${object.class.likely}, p ${number(object.class.p)}, by this station alone`);
  if (object.label) comments.push(`label ${object.label}`);
  if (object.test) comments.push("test event");
  const amplitudes = [["pga", "PGA", "m/(s*s)"], ["pgv", "PGV", "m/s"]].filter(([key]) => Number.isFinite(object[key])).map(([key, type, unit]) =>
    element("amplitude", quantity("genericAmplitude", number(object[key])) + element("type", type) + element("unit", unit) + element("pickID", `${own}/pick`) +
      element("waveformID", "", codes), ` publicID="${own}/${key}"`));
  return element("event",
    (kinds[said] ? element("type", kinds[said]) + element("typeCertainty", object.label ? "known" : "suspected") : "") +
    element("description", element("text", escape(`${id}: ${object.event_id}`))) +
    comments.map((text) => element("comment", element("text", escape(text)))).join("") +
    element("pick", quantity("time", object.onset) + element("waveformID", "", codes) + element("evaluationMode", "automatic"), ` publicID="${own}/pick"`) +
    amplitudes.join(""), ` publicID="${own}"`);
}

// The document of these events of one station: { id, network, code, location }.
function quakeML(events, station) {
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + element("q:quakeml",
    element("eventParameters", `\n${events.map((one) => event(one, station)).join("\n")}\n`, ` publicID="smi:local/seismote/${name(station.id)}"`),
    ' xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"') + "\n";
}

export { quakeML };
