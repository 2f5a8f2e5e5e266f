// A button that prints the page: the style sheet has a form for paper.

import { h } from "../dom.js";
import { text } from "../text.js";

export const printButton = () => h("button", { type: "button", class: "plain", onclick: () => globalThis.print() }, text.print);
