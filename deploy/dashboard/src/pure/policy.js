// Where the page may connect to. index.html forbids all but WebSockets; which brokers they are says the page's address, so
// the page itself then forbids all but those.
const most = 8;

// The brokers that an address like ?broker=…&broker=… names, nodes of one cluster; without that, where the page came from:
// the same host and port, wss for https, below the same folder.
function brokers({ protocol, host, pathname, search }) {
  const named = [...new Set(new URLSearchParams(search).getAll("broker"))].slice(0, most);
  return named.length > 0 ? named : [`${protocol === "https:" ? "wss" : "ws"}://${host}${pathname.replace(/[^/]*$/, "")}`];
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

// The Content-Security-Policy for brokers' addresses, and for files of the page itself (whole addresses). A policy has no way to
// write an IPv6 address, so for one of those it stays with the scheme, and such a page does without its files.
function connections(urls, files = []) {
  const origins = urls.map(origin);
  if (origins.includes(null)) return "connect-src 'none'";
  const allowed = origins.map((only) => only.includes("[") ? only.slice(0, only.indexOf("/")) : only);
  const good = files.filter((file) => typeof file === "string" && /^https?:\/\/[^\s;,[\]?#]+$/.test(file));
  return `connect-src ${[...new Set([...allowed, ...good])].join(" ")}`;
}

// Pictures: those that the page has made, and tiles of a map from an origin, where the operator wants some.
const pictures = (tiles) => `img-src data:${tiles ? ` ${tiles}` : ""}`;

export const policy = { brokers, origin, connections, pictures };
