// Panels: parts of the page that are in a file of their own with their words in English, a style sheet of their own (style/panels)
// and a line in panels.js, and that nothing else knows of. Where they are shown is what they say here.

/**
 * @typedef {object} Panel
 * @property {"overview" | "live"} place a link above the stations, or a card on a station's page
 * @property {string} [label] of a link
 * @property {string} [address] where a link leads, such as "#/traces"
 * @property {(id: string, known: { station: () => any, traces: () => any }) => { element: HTMLElement, stop: () => void }} [make]
 *   makes the card of a station
 */

/** @type {Panel[]} */
const panels = [];

/** @param {Panel} panel */
export function definePanel(panel) {
  panels.push(panel);
}

/** @param {Panel["place"]} place */
export const panelsOf = (place) => panels.filter((panel) => panel.place === place);
