// What stations say in English, in the reader's language: names and help of settings and of their groups, and alerts. What is
// not in languages/stations.tsv and help.tsv stays as the station says it.

import { Seismote } from "./page.js";
import { mark } from "./pure/mark.js";

const words = Seismote.translation?.stations ?? {};
const found = (kind, name) => (Object.hasOwn(words[kind] ?? {}, name) ? words[kind][name] : undefined);
// The three axes have the same settings.
const general = (key) => key.replace(/^axes\.[xyz]\./, "axes.all.");
// A help text is that of its English one, whole: a station of another version may say something else.
const help = (kind, key, english) => {
  const [of, text] = found("help", `${kind} ${general(key)}`) ?? [];
  return english && of === mark(english) ? text : english;
};

export const stationWords = {
  // Whether there is a table, and which names of a schema's fields and groups it lacks.
  isTranslated: () => Seismote.translation !== null && Seismote.translation !== undefined,
  missing: (fields, headings) => [
    ...fields.filter(({ key }) => found("setting", general(key)) === undefined).map(({ key }) => `setting ${key}`),
    ...Object.keys(headings).filter((key) => found("group", general(key)) === undefined).map((key) => `group ${key}`),
  ],
  // Which of the fields' help texts are said in English.
  missingHelp: (fields) => fields.filter(({ help: shown, said }) => shown !== "" && said.endsWith(` ${shown}`)).map(({ key }) => key),
  // The fields of a form with their names and help in the reader's language; the station's own words are found by the search, too.
  fields: (list) => list.map((field) => ({
    ...field, title: found("setting", general(field.key)) ?? field.title, help: help("setting", field.key, field.help),
      said: `${field.title} ${field.help}`,
  })),
  headings: (all) => Object.fromEntries(Object.entries(all).map(([key, heading]) => [key, {
    ...heading, title: found("group", general(key)) ?? heading.title, help: help("group", key, heading.help),
  }])),
  alert: (code) => found("alert", code),
  // In few words: the translated name, else the code as words, "Clock unsynced".
  alertName: (code) => found("alert", code) ?? (code.charAt(0).toUpperCase() + code.slice(1)).replaceAll("_", " "),
  // What can be done about it, with names between backquotes.
  remedy: (code) => found("remedy", code) ?? (Object.hasOwn(Seismote.remedies ?? {}, code) ? Seismote.remedies[code] : undefined),
};
