// The page's texts in the reader's language: languages/en.json, which `install` puts in front of the page's scripts, and
// over it the language that load.js has brought.
(function (Seismote) {
  "use strict";

  const { messages } = Seismote;
  Seismote.language = Seismote.translation ? Seismote.chosenLanguage : "en";
  Seismote.numbers = messages.numbers(Seismote.language);
  Seismote.text = messages.compile(Seismote.translation ?? {}, Seismote.english, Seismote.numbers);
  if (globalThis.document?.documentElement) document.documentElement.lang = Seismote.language;
})((globalThis.Seismote = globalThis.Seismote || {}));
