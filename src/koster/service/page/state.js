// The state of the page, and the link that contains it.

export const EXAMPLE = `# An example: change anything.
User-agent: *
Disallow: /private/
Disallow: /search?
Allow: /private/press/
Crawl-delay: 2

User-agent: GPTBot
User-agent: ClaudeBot
Disallow: /

Sitemap: https://example.com/sitemap.xml
`;

export const TABS = ["test", "findings", "audit", "signals", "compare", "dialects"];

/** The state; `other` is the file to compare with, `null` at first. */
export const state = {
  robots: EXAMPLE,
  other: null,
  agents: ["Googlebot", "GPTBot"],
  urls: "/\n/private/x\n/private/press/2026\n/search?q=tea",
  // A page for the tab Signals, with its headers and HTML, if there are any.
  page: "/",
  headers: "",
  html: "",
  dialect: "RFC9309",
  tab: "test",
};

/** Return the URLs to test. */
export const urlsAsked = () => state.urls.split("\n").map((url) => url.trim()).filter(Boolean);

const VERSION = "1.";

//: The maximum bytes of a state: a short link may unpack to gigabytes.
const MAX_BYTES = 10_000_000;

async function through(stream, bytes) {
  const parts = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > MAX_BYTES) {
      await reader.cancel();
      throw new RangeError("too long");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return the state as the fragment of a link. */
export async function asFragment() {
  const bytes = await through(
    new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return VERSION + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

//: Maximum characters of a file or list in a link: more than the service reads.
const MOST = 2_000_000;

const isText = (value) => typeof value === "string" && value.length <= MOST;

/** Read the state from a fragment; returns whether it has one. */
export async function fromFragment(fragment, dialects) {
  if (!fragment.startsWith(VERSION) || fragment.length > MOST) return false;
  try {
    const text = atob(fragment.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(
      await through(new DecompressionStream("deflate-raw"), bytes)));
    if (isText(found.robots)) state.robots = found.robots;
    if (isText(found.urls)) state.urls = found.urls;
    for (const name of ["page", "headers", "html"]) if (isText(found[name])) state[name] = found[name];
    if (isText(found.other) || found.other === null) state.other = found.other;
    if (Array.isArray(found.agents)) {
      state.agents = found.agents.filter((agent) => isText(agent) && agent).slice(0, 100);
    }
    if (dialects.includes(found.dialect)) state.dialect = found.dialect;
    if (TABS.includes(found.tab)) state.tab = found.tab;
    return true;
  } catch {
    return false;
  }
}
