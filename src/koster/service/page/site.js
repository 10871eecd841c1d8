// Load from site: what was fetched, and each hop on the way.

import { get } from "./api.js";
import { el, shown } from "./dom.js";

const SAID = {
  file: "a file",
  unavailable: "no file: robots may fetch everything",
  forbidden: "forbidden: robots may fetch nothing",
  unreachable: "unreachable: robots may fetch nothing for now",
};

/** Fetch a site's robots.txt; returns what came of it. */
export const fetched = (site, dialect) => get("fetch", { site, dialect, max_age: 60 });

/** Show what was fetched, in a section that can be closed. */
export function showFetched(section, found) {
  const notes = [
    !found.hops.some((hop) => hop.why === found.why) && found.why,
    found.body?.includes("\ufffd") && "Some bytes of the file are not UTF-8 and are shown as \ufffd: verdicts here may differ from what crawlers decide.",
    found.stale && "The site cannot be reached: this is an old copy, which holds on.",
    found.cut && "The file is longer: robots read its first 500 KiB alone.",
    found.charset && `It is in ${found.charset}: many robots read UTF-8 alone.`,
    found.downgraded && "A redirect led from HTTPS to HTTP: the file may be anybody's."].filter(Boolean);
  section.replaceChildren(
    el("div", { class: "head" },
      el("p", {}, el("strong", {}, found.site), ": ", el("span", { class: { file: "yes", unavailable: "" }[found.outcome] ?? "no" }, SAID[found.outcome]),
        el("span", { class: "soft" }, ` · fetched ${moment(found.fetched)} · asked again after ${moment(found.expires)}`)),
      el("button", { type: "button", "aria-label": "Close what was fetched", on: { click: () => { section.hidden = true; } } }, "✕")),
    el("ol", {}, found.hops.map((hop) => el("li", {},
      el("span", { class: `badge ${hop.status >= 200 && hop.status < 300 ? "good" : hop.status < 400 && hop.status !== null ? "" : "bad"}` }, hop.status ?? "no answer"),
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
