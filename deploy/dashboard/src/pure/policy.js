// Where the page may connect to. index.html forbids all but WebSockets; which broker it is says the page's address, so
// the page itself then forbids all but that one.
(function (Seismote) {
  "use strict";

  // The broker that an address like ?broker=… names; without that, where the page came from: the same host and port, wss
  // for https, below the same folder.
  function broker({ protocol, host, pathname, search }) {
    return new URLSearchParams(search).get("broker")
      ?? `${protocol === "https:" ? "wss" : "ws"}://${host}${pathname.replace(/[^/]*$/, "")}`;
  }

  // Scheme, host and port of a WebSocket's address; null when it is none.
  function origin(url) {
    try {
      const { protocol, host } = new URL(url);
      return ["ws:", "wss:"].includes(protocol) && host !== "" ? `${protocol}//${host}` : null;
    } catch {
      return null;
    }
  }

  // The Content-Security-Policy for a broker's address. A policy has no way to write an IPv6 address, so for one of those
  // it stays with the scheme.
  function connections(url) {
    const only = origin(url);
    if (!only) return "connect-src 'none'";
    return `connect-src ${only.includes("[") ? only.slice(0, only.indexOf("/")) : only}`;
  }

  Seismote.policy = { broker, origin, connections };
})((globalThis.Seismote = globalThis.Seismote || {}));
