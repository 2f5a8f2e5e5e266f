// What an event is taken for, in the words and numbers of a language.

// A model is never certain: 0.998 is more than 99 %, and not 100 %.
export const percent = (p, numbers) => (
  p > 0.99 ? `>${numbers.percent(0.99)}` : p < 0.01 ? `<${numbers.percent(0.01)}` : numbers.percent(p));

// "earthquake 93 %" or "disturbance (earthquake 10 %)": the probability is always that of an earthquake, and a bare number
// beside another class would be read as that class's. Null where the station says nothing of it.
/** @param {{ class?: any, label?: string }} event */
export function classified({ class: judged, label }, words, numbers) {
  const name = label ? words.labels[label] ?? label : judged?.likely && words.names[judged.likely];
  if (!name) return null;
  if (label || !Number.isFinite(judged.p)) return name;
  if (judged.likely !== "earthquake") return words.but(name, `${words.names.earthquake} ${percent(judged.p, numbers)}`);
  // An earthquake is one until the probability has been low for a while.
  return judged.p >= 0.5 ? `${name} ${percent(judged.p, numbers)}` : name;
}
