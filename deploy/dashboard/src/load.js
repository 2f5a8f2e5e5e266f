// Brings the page's scripts and the reader's language. mosquitto does not compress what it serves, so they come as gzip
// and are unpacked here; the policy of index.html lets run what has the right checksum, and nothing else. A browser that
// cannot unpack gets seismote.js, which is the same.
(function () {
  "use strict";

  const { bundle, languages, places } = document.currentScript.dataset;

  function chosen() {
    let wanted = "auto";
    try {
      wanted = JSON.parse(localStorage.getItem("seismote.preferences") ?? "{}").language ?? "auto";
    } catch {
      // No storage, or not ours.
    }
    for (const one of [wanted, ...navigator.languages]) {
      const code = String(one).toLowerCase().split("-")[0];
      if (languages.split(" ").includes(code)) return code;
    }
    return "en";
  }

  async function unpacked(name) {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    const bytes = await answer.arrayBuffer();
    const [first, second] = new Uint8Array(bytes, 0, 2);
    // A server that knows gzip may have unpacked it already.
    if (first !== 0x1f || second !== 0x8b) return new TextDecoder().decode(bytes);
    return new Response(new Blob([bytes]).stream().pipeThrough(new /** @type {any} */ (globalThis).DecompressionStream("gzip"))).text();
  }

  const rule = { createScript: (text) => text, createScriptURL: () => "seismote.js" };
  const policy = globalThis.trustedTypes?.createPolicy("seismote", rule) ?? rule;

  function run(fill) {
    const script = document.createElement("script");
    fill(script);
    document.body.append(script);
  }

  const code = chosen();
  const translation = code === "en" ? null : unpacked(`language-${code}.bin`).then(JSON.parse).catch(() => null);
  // What the operator of the page says of it: whose tiles its map has.
  const settings = unpacked("page.json").then(JSON.parse).catch(() => null);
  Promise.all([unpacked(bundle).catch(() => null), translation, settings]).then(([text, words, said]) => {
    globalThis.Seismote = { chosenLanguage: code, languages: languages.split(" "), translation: words, settings: said, places, unpacked };
    if (text !== null) run((script) => (script.text = policy.createScript(text)));
    if (!globalThis.Seismote.started) run((script) => (script.src = policy.createScriptURL("")));
  });
})();
