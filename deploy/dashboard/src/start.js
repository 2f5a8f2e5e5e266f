// Begins: the page first, then the connection.
(function (Seismote) {
  "use strict";

  Seismote.frame.bar();
  Seismote.router.start();
  // mqtt.js is the next script: the page is seen before it has come.
  document.addEventListener("DOMContentLoaded", () => {
    Seismote.link.connect();
    Seismote.fleet.start();
  });
})(globalThis.Seismote ??= {});
