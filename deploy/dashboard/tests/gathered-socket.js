import assert from "node:assert/strict";
import test from "node:test";

// The browser's socket, as far as it counts here.
class Socket extends EventTarget {
  static OPEN = 1;
  readyState = 1;
  sent = [];
  send(data) {
    assert.equal(this.readyState, 1, "browsers say an error for what is sent after the end");
    this.sent.push(data);
  }
  comes(...bytes) {
    this.dispatchEvent(Object.assign(new Event("message"), { data: Uint8Array.from(bytes).buffer }));
  }
}

test("What waits is handed on before the end is told, and an answer to it is not sent any more", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const before = [globalThis.WebSocket, globalThis.document];
  t.after(() => { [globalThis.WebSocket, globalThis.document] = before; });
  globalThis.WebSocket = Socket;
  globalThis.document = { hidden: false };
  const { WebSocket } = await import("../src/gathered-socket.js");
  const socket = new WebSocket("ws://localhost");
  const heard = [];
  socket.addEventListener("message", ({ data }) => {
    heard.push(...new Uint8Array(data));
    socket.send("acknowledged");
  });
  socket.addEventListener("close", () => heard.push("end"));
  socket.comes(1);
  socket.comes(2);
  assert.deepEqual([heard, socket.sent.length], [[1], 1]);
  socket.readyState = 3;
  socket.dispatchEvent(new Event("close"));
  assert.deepEqual([heard, socket.sent.length], [[1, 2, "end"], 1]);
});
