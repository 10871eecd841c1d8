// Load from site: the result of a fetch, and each hop on the way.

import { get } from "./api.js";
import { el, shown } from "./dom.js";

const SAID = {
  file: "a file",
  unavailable: "no file: everything is allowed",
  forbidden: "forbidden: everything is blocked",
  unreachable: "unreachable: everything is blocked for now",
};

/** Fetch a site's robots.txt; returns the result. */
export const fetched = (site, dialect) => get("fetch", { site, dialect, max_age: 60 });

/** Show the result of a fetch in a section that can be closed. */
export function showFetched(section, found) {
  const notes = [
    !found.hops.some((hop) => hop.why === found.why) && found.why,
    found.body?.includes("\ufffd") && "Some bytes of the file are not UTF-8 and are shown as \ufffd: verdicts here may differ from what crawlers decide.",
    found.stale && "The site is unreachable: this is a stale copy from the cache.",
    found.cut && "The file is truncated: crawlers read only the first 500 KiB.",
    found.charset && `Its charset is ${found.charset}: many crawlers read only UTF-8.`,
    found.downgraded && "A redirect led from HTTPS to HTTP: others could have changed the file."].filter(Boolean);
  section.replaceChildren(
    el("div", { class: "head" },
      el("p", {}, el("strong", {}, found.site), ": ", el("span", { class: { file: "yes", unavailable: "" }[found.outcome] ?? "no" }, SAID[found.outcome]),
        el("span", { class: "soft" }, ` · fetched ${moment(found.fetched)} · expires ${moment(found.expires)}`)),
      el("button", { type: "button", "aria-label": "Close the fetched file", on: { click: () => { section.hidden = true; } } }, "✕")),
    el("ol", {}, found.hops.map((hop) => el("li", {},
      el("span", { class: `badge ${hop.status >= 200 && hop.status < 300 ? "good" : hop.status < 400 && hop.status !== null ? "" : "bad"}` }, hop.status ?? "no response"),
      el("code", {}, shown(hop.url)),
      el("span", { class: "soft" }, `${hop.seconds.toFixed(2)} s`),
      hop.headers.location && el("span", { class: "soft" }, "→ ", el("code", {}, shown(hop.headers.location))),
      hop.headers["content-type"] && el("span", { class: "soft" }, shown(hop.headers["content-type"])),
      hop.why && el("span", { class: "warning" }, shown(hop.why))))),
    ...notes.map((note) => el("p", {}, shown(note))));
  section.hidden = false;
}

function moment(text) {
  return new Date(text).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
}
