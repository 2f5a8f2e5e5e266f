// Begins: the page first, then the connection.
(function (Seismote) {
  "use strict";

  // From here on the browser lets the page connect to these brokers alone, whatever a message may talk it into.
  function allowOnly(urls) {
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = Seismote.policy.connections(urls);
    document.head.append(policy);
  }

  Seismote.started = true;
  Seismote.frame.bar();
  Seismote.frame.banner();
  Seismote.router.start();
  allowOnly(Seismote.policy.brokers(location));
  Seismote.link.connect();
  Seismote.fleet.start();
  Seismote.fleet.introduce();
})(globalThis.Seismote ??= {});
