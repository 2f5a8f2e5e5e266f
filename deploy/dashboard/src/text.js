// The page's texts in the reader's language: languages/en.json, which `install` puts in front of the page's scripts, and
// over it the language that load.js has brought.

import { Seismote } from "./page.js";
import { messages } from "./pure/messages.js";

export const language = Seismote.translation ? Seismote.chosenLanguage : "en";
export const numbers = messages.numbers(language);
export const text = messages.compile(Seismote.translation ?? {}, Seismote.english, numbers);
// The words of a panel, which has them in English beside itself: what its language has under `panels` and that name.
export const ownWords = (name, english) => messages.compile(Seismote.translation?.panels?.[name] ?? {}, english, numbers);
if (globalThis.document?.documentElement) document.documentElement.lang = language;
