// Findings: one in the margin, and those with the same code as a card in the list.

import { counted, crawlerNames, el, shown } from "./dom.js";

const EXAMPLES = 3;
const RANGES = 30;
const TOLD = 3;

/** Return the elements of a finding; `does` has what its buttons do. */
export function findingParts(finding, does) {
  return el("div", { class: "finding" },
    el("div", { class: "head" },
      el("span", { class: `severity ${finding.severity}` }, finding.severity),
      lineButton(finding.line, `line ${finding.line}`, does),
      el("code", { class: "soft" }, `${finding.code} ${finding.name}`)),
    el("p", {}, shown(finding.message), "."),
    advice(finding, does), why(finding));
}

/** Return the elements of findings with the same code: the first ones with different messages, and the lines of all others. */
export function groupParts(findings, does, details) {
  const messages = new Set();
  const examples = findings.filter(({ message }) => messages.size < EXAMPLES && !messages.has(message) && messages.add(message));
  const lines = [...new Set(findings.filter((each) => !examples.includes(each)).map((each) => each.line))].sort((one, other) => one - other);
  const fixable = findings.filter((each) => each.fixable);
  const [first] = findings;
  return el("div", { class: "finding" },
    el("div", { class: "head" },
      el("span", { class: `severity ${first.severity}` }, first.severity),
      el("strong", {}, first.title),
      el("code", { class: "soft" }, `${first.code} ${first.name}`),
      findings.length > 1 && el("span", { class: "soft" }, `${findings.length} times`)),
    examples.map((each) => el("div", { class: "example" },
      el("p", {}, lineButton(each.line, `Line ${each.line}`, does), ": ", shown(each.message), "."), advice(each, does))),
    lines.length > 0 && el("p", {}, `${findings.length - examples.length} more: ${lines.length === 1 ? "line" : "lines"} `, ranges(lines, does)),
    fixable.length > 1 && el("div", { class: "does" }, el("button", { type: "button", on: { click: () => does.fix(fixable) } }, `Fix all ${fixable.length} of ${first.code}`)),
    why(first, details));
}

function lineButton(line, text, does) {
  return el("button", { type: "button", class: "link", "aria-label": `Line ${line}`, on: { click: () => does.show(line) } }, text);
}

function advice(finding, does) {
  return [
    finding.suggestion && el("p", {}, el("strong", {}, "Suggestion: "), shown(finding.suggestion), /[.?]$/.test(finding.suggestion) ? "" : "."),
    (finding.fixable || finding.proposal.length > 0 || finding.url) && el("div", { class: "does" },
      finding.fixable && el("button", { type: "button", class: "main", on: { click: () => does.fix([finding]) } }, "Fix it"),
      !finding.fixable && finding.proposal.length > 0 && el("button", { type: "button", on: { click: () => does.apply(finding) } }, "Apply suggestion"),
      finding.url && el("button", { type: "button", on: { click: () => does.test(finding.url) } }, "Test ", el("code", {}, shown(finding.url))))];
}

function why(finding, details = {}) {
  return el("details", details, el("summary", {}, "Why"),
    el("p", {}, finding.title, ". ", finding.why), el("p", { class: "soft" }, `Source: ${finding.source}`, ". ",
      el("a", { href: finding.docs, rel: "noreferrer noopener", target: "_blank" }, `More about ${finding.code}`)));
}

/** Return line numbers as "5, 8–12", each number a button. */
function ranges(lines, does) {
  const found = [];
  for (const line of lines) {
    if (found.at(-1)?.last === line - 1) found.at(-1).last = line;
    else found.push({ first: line, last: line });
  }
  const parts = found.slice(0, RANGES).map(({ first, last }, at) => [
    at > 0 && ", ", lineButton(first, String(first), does), last > first && ["–", lineButton(last, String(last), does)]]);
  const left = found.slice(RANGES).reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return [parts, left > 0 && ` and ${counted(left, "other")}`];
}

/** Return what a change means for crawlers, from the differences between the files. */
export function effectOf(diff) {
  if (diff.decides_alike) return "No access changes (proved).";
  const found = diff.changes.flatMap((change) => change.differences.map((each) => ({ ...each, agents: change.agents })));
  if (!found.length) return "No access change was found, but that is not proved.";
  const told = found.slice(0, TOLD).map((each) =>
    `${shown(each.url)} is now ${each.opened ? "allowed" : "blocked"} for ${crawlerNames(each.agents.includes("*") ? ["*"] : each.agents, TOLD)}`);
  return `Access changes: ${told.join("; ")}${found.length > TOLD ? `; ${found.length - TOLD} more` : ""}.`;
}

/** Return a text with edits, which count bytes; of two that overlap the first counts. */
export function edited(text, edits) {
  const bytes = new TextEncoder().encode(text);
  const each = new Map(edits.map((edit) => [JSON.stringify(edit), edit]));
  const ordered = [...each.values()].sort((one, other) => one.start - other.start || other.end - one.end);
  const parts = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let at = 0;
  for (const edit of ordered) {
    if (edit.start < at) continue;
    parts.push(decoder.decode(bytes.subarray(at, edit.start)), edit.text);
    at = edit.end;
  }
  parts.push(decoder.decode(bytes.subarray(at)));
  return parts.join("");
}
