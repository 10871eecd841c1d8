// A finding, as it stands in the margin and in the list.

import { el, shown } from "./dom.js";

/** Return the elements of a finding; `does` has what its buttons do. */
export function findingParts(finding, does) {
  return el("div", { class: "finding" },
    el("div", { class: "head" },
      el("span", { class: `severity ${finding.severity}` }, finding.severity),
      el("button", { type: "button", class: "link", on: { click: () => does.show(finding.line) } }, `line ${finding.line}`),
      el("code", { class: "soft" }, `${finding.code} ${finding.name}`)),
    el("p", {}, shown(finding.message), "."),
    finding.suggestion && el("p", {}, el("strong", {}, "Do: "), shown(finding.suggestion)),
    el("div", { class: "does" },
      finding.fixable && el("button", { type: "button", class: "main", on: { click: () => does.fix([finding]) } }, "Fix it"),
      finding.url && el("button", { type: "button", on: { click: () => does.test(finding.url) } }, "Test ", el("code", {}, shown(finding.url)))),
    el("details", {}, el("summary", {}, "Why"),
      el("p", {}, finding.title), el("p", {}, finding.why), el("p", { class: "soft" }, `Source: ${finding.source}`)));
}

/** Return a text with the edits of findings, which count bytes; of two that overlap the first counts. */
export function fixed(text, findings) {
  const bytes = new TextEncoder().encode(text);
  const each = new Map(findings.flatMap((finding) => finding.edits).map((edit) => [JSON.stringify(edit), edit]));
  const edits = [...each.values()].sort((one, other) => one.start - other.start || other.end - one.end);
  const parts = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let at = 0;
  for (const edit of edits) {
    if (edit.start < at) continue;
    parts.push(decoder.decode(bytes.subarray(at, edit.start)), edit.text);
    at = edit.end;
  }
  parts.push(decoder.decode(bytes.subarray(at)));
  return parts.join("");
}
