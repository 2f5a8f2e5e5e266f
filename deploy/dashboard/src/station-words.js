// What stations say in English, in the reader's language: names of settings and of their groups, and alerts. What is not in
// languages/stations.tsv stays as the station says it.

import { Seismote } from "./page.js";

const words = Seismote.translation?.stations ?? {};
const found = (kind, name) => (Object.hasOwn(words[kind] ?? {}, name) ? words[kind][name] : undefined);
// The three axes have the same settings.
const general = (key) => key.replace(/^axes\.[xyz]\./, "axes.all.");

export const stationWords = {
  // Whether there is a table, and which names of a schema's fields and groups it lacks.
  isTranslated: () => Seismote.translation !== null && Seismote.translation !== undefined,
  missing: (fields, headings) => [
    ...fields.filter(({ key }) => found("setting", general(key)) === undefined).map(({ key }) => `setting ${key}`),
    ...Object.keys(headings).filter((key) => found("group", general(key)) === undefined).map((key) => `group ${key}`),
  ],
  // The fields of a form with their names in the reader's language; the station's own is found by the search, too.
  fields: (list) => list.map((field) => ({ ...field, title: found("setting", general(field.key)) ?? field.title, said: field.title })),
  headings: (all) => Object.fromEntries(Object.entries(all).map(([key, heading]) => [key, { ...heading, title: found("group", general(key)) ?? heading.title }])),
  alert: (code) => found("alert", code),
};
