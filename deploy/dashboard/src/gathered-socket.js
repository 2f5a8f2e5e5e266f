// What MQTT.js takes for the browser's WebSocket (`install`): messages that come within some milliseconds are one for it. (To
// MQTT they are a stream, whose parts mean nothing.) A page that nobody sees has slow timers, so there each is handed on at once.
import { Gathering } from "./pure/gathering.js";

const span = 50;

export class GatheredSocket extends globalThis.WebSocket {
  #gathering = new Gathering(span);
  #timer = 0;
  #listeners = [];

  /** @param {string | URL} url @param {string | string[]} [protocols] */
  constructor(url, protocols) {
    super(url, protocols);
    super.addEventListener("message", ({ data }) => this.#take(new Uint8Array(data)));
    // Before anybody is told of the end.
    super.addEventListener("close", () => this.#release());
  }

  addEventListener(type, listener, ...options) {
    if (type === "message") this.#listeners.push(listener);
    else super.addEventListener(type, listener, ...options);
  }

  // What is handed on at the end is answered, when nobody hears it any more: browsers drop that, with an error on the console.
  send(data) {
    if (this.readyState <= globalThis.WebSocket.OPEN) super.send(data);
  }

  #take(part) {
    const now = performance.now();
    this.#hand(this.#gathering.take(part, now));
    const wait = this.#gathering.wait(now);
    if (document.hidden) this.#release();
    else if (wait >= 0) this.#timer ||= setTimeout(() => this.#release(), wait);
  }

  #release() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#hand(this.#gathering.release(performance.now()));
  }

  #hand(bytes) {
    if (bytes === null) return;
    for (const listener of this.#listeners) listener({ data: bytes.buffer });
  }
}

export { GatheredSocket as WebSocket };
