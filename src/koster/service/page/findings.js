// Findings: in the tab, and in the margin of the editor.

import { ask, Latest, Problem } from "./api.js";
import { counted, el } from "./dom.js";
import { findingParts, fixed } from "./finding.js";
import { state } from "./state.js";

const ORDER = ["error", "warning", "note"];

export class FindingsView {
  constructor(panel, { showLine, replaceText, testUrl, editor, count, say }) {
    this.does = { show: showLine, test: testUrl, fix: (findings) => this.fix(findings) };
    this.replaceText = replaceText;
    this.editor = editor;
    this.count = count;
    this.say = say;
    this.findings = [];
    this.of = null;
    this.more = 0;
    // Who types is not to wait for it.
    this.latest = new Latest(() => this.refresh(), 150);
    this.sum = el("p", { class: "sum" });
    this.list = el("ul", { class: "cards", "aria-label": "Findings" });
    this.all = el("button", { type: "button", hidden: true, on: { click: () => this.fix(this.findings.filter((each) => each.fixable)) } }, "Fix all");
    panel.append(el("div", { class: "bar" }, this.sum, this.all), this.list);
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    const robots = state.robots.toWellFormed();
    const dialects = [...new Set([state.dialect, "GOOGLE", "RFC9309"])];
    try {
      const { findings, more } = await ask("lint", { robots, dialects });
      this.findings = findings;
      this.more = more;
      this.of = robots;
      this.draw();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.findings = [];
      this.of = null;
      this.draw(error.message);
      throw error;
    }
  }

  draw(trouble = "") {
    const marks = new Map();
    for (const each of this.findings) marks.set(each.line, [...(marks.get(each.line) || []), each]);
    this.editor.mark(marks);
    const numbers = ORDER.map((severity) => [severity, this.findings.filter((each) => each.severity === severity).length]);
    const told = numbers.filter(([, number]) => number).map(([severity, number]) => counted(number, severity)).join(", ");
    this.sum.textContent = trouble || told || "";
    this.count.textContent = this.findings.length ? String(this.findings.length) : "";
    this.count.className = `count ${numbers.find(([, number]) => number)?.[0] || ""}`;
    this.count.setAttribute("aria-label", told);
    const fixable = this.findings.filter((each) => each.fixable).length;
    this.all.hidden = fixable < 2;
    this.all.textContent = `Fix all ${fixable}`;
    if (!this.findings.length && !trouble) {
      this.list.replaceChildren(el("li", { class: "empty" }, "Nothing to be found: this file says what it means."));
      return;
    }
    const most = 200;
    this.list.replaceChildren(...this.findings.slice(0, most).map((finding) =>
      el("li", { class: `card ${finding.severity}-card` }, findingParts(finding, this.does))));
    const left = this.findings.length + this.more - most;
    if (left > 0) this.list.append(el("li", { class: "empty" }, `and ${counted(left, "other")}, the next in the margin`));
  }

  /** Return the elements of a mark's popover. */
  explain(findings) {
    return findings.map((finding) => findingParts(finding, this.does));
  }

  /** Mend the text, and say what that changes for robots. */
  async fix(findings) {
    // The edits are those of the text that was looked at.
    if (this.of === null || this.of !== state.robots.toWellFormed()) return;
    const before = this.of;
    const after = fixed(before, findings);
    const codes = [...new Set(findings.map((each) => each.code))].join(", ");
    this.replaceText(after, `Fixed ${codes}.`);
    try {
      const changed = await ask("diff", { before: { robots: before }, after: { robots: after }, dialect: state.dialect });
      if (state.robots.toWellFormed() !== after) return;
      const urls = changed.changes.flatMap((change) => change.differences);
      const effect = changed.decides_alike
        ? "Every robot may fetch what it might before: proved."
        : urls.length
          ? `This changes what robots may fetch, for example ${urls[0].url}, which is ${urls[0].opened ? "opened" : "closed"}.`
          : "It is not proved that robots may fetch what they might before.";
      this.say(`Fixed ${codes}. ${effect}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}
