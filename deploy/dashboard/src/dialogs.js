// Questions in front of the page, on the browser's own <dialog>.

import { h } from "./dom.js";

// dialog({ title, content, actions: [{ label, value, primary, danger }] }) -> Promise of the value, null when it was
// closed. `content` is a node or an array; a form in it is not needed: Enter takes the primary action.
/** @param {{ title: string, content: any, actions: any[], className?: string }} question @returns {Promise<any>} */
export function dialog({ title, content, actions, className }) {
  return new Promise((resolve) => {
    let answer = null;
    const name = `dialog-${Math.random().toString(36).slice(2)}`;
    const element = h("dialog", { "aria-labelledby": name, class: className });
    const choose = (action) => {
      answer = action.value;
      // Enter in a field presses the primary one, which submits the form and so closes the dialog.
      if (!action.primary) element.close();
    };
    const buttons = actions.map((action) =>
      h("button", {
        type: action.primary ? "submit" : "button",
        class: action.danger ? "danger" : action.primary ? "primary" : "plain",
        onclick: () => choose(action),
      }, action.label));
    element.append(h("form", { method: "dialog" }, h("h2", { id: name }, title), content, h("div", { class: "actions" }, buttons)));
    element.addEventListener("cancel", () => (answer = null));
    // An alarm that is shown comes into the dialog, and out of it in time: what lies outside cannot be seen or pressed.
    const changed = () => document.dispatchEvent(new CustomEvent("seismote-dialog"));
    element.addEventListener("close", () => {
      changed();
      element.remove();
      resolve(answer);
    });
    document.body.append(element);
    element.showModal();
    changed();
  });
}
