// The page's one global name, for the browser's console and for checks: what load.js and the head of seismote.js have
// brought (texts, languages, presets), the parts of the page, and the view that is shown.
export const Seismote = (globalThis.Seismote ??= {});
