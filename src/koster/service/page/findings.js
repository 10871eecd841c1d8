// The tab Findings, and the marks in the margin of the editor.

import { ask, Latest, Problem } from "./api.js";
import { counted, el, shown } from "./dom.js";
import { edited, effectOf, findingParts, groupParts } from "./finding.js";
import { linesWithoutEffect } from "./lines.js";
import { state } from "./state.js";

const ORDER = ["error", "warning", "note"];
const isNote = (finding) => finding.severity === "note";

export class FindingsView {
  constructor(panel, { showLine, replaceText, testUrl, editor, count, say }) {
    this.does = { show: showLine, test: testUrl, fix: (findings) => this.fix(findings), apply: (finding) => this.apply(finding) };
    this.replaceText = replaceText;
    this.editor = editor;
    this.count = count;
    this.say = say;
    this.findings = [];
    this.first = null;
    this.of = null;
    this.more = 0;
    this.hasNotes = false;
    // Codes whose "Why" is open.
    this.open = new Set();
    // Checking waits until typing pauses.
    this.latest = new Latest(() => this.refresh(), 150);
    this.sum = el("p", { class: "sum", role: "status", tabIndex: -1 });
    this.lead = el("p", { class: "lead", hidden: true });
    this.list = el("ul", { class: "cards", "aria-label": "Findings" });
    this.notes = el("button", { type: "button", hidden: true, on: { click: () => {
      this.hasNotes = !this.hasNotes;
      this.draw();
    } } });
    this.all = el("button", { type: "button", hidden: true, on: { click: () => this.fix(this.listed.filter((each) => each.fixable)) } });
    panel.append(this.lead, el("div", { class: "bar" }, this.sum, el("div", { class: "does" }, this.notes, this.all)), this.list);
  }

  /** The findings in the list. */
  get listed() {
    return this.findings.filter((each) => this.hasNotes || !isNote(each));
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    const robots = state.robots.toWellFormed();
    const dialects = [...new Set([state.dialect, "GOOGLE", "RFC9309"])];
    try {
      const { findings, more, most_important: first } = await ask("lint", { robots, dialects });
      this.findings = findings;
      this.first = first === null ? null : findings[first];
      this.more = more;
      this.of = robots;
      this.mark();
      this.draw();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.findings = [];
      this.of = null;
      this.more = 0;
      this.mark();
      this.draw(error.message);
      throw error;
    }
  }

  mark() {
    const marks = new Map();
    for (const each of this.findings) marks.set(each.line, [...(marks.get(each.line) || []), each]);
    this.editor.mark(marks, linesWithoutEffect(state.robots, this.findings));
  }

  draw(problem = "") {
    const numbers = ORDER.map((severity) => [severity, this.findings.filter((each) => each.severity === severity).length]);
    const [errors, warnings, notes] = numbers.map(([, number]) => number);
    const told = numbers.slice(0, 2).filter(([, number]) => number).map(([severity, number]) => counted(number, severity)).join(", ");
    this.sum.textContent = problem || told || (notes ? "No errors or warnings" : "No problems found");
    this.count.textContent = errors + warnings ? String(errors + warnings) : "";
    this.count.className = `count ${(errors && "error") || (warnings && "warning") || ""}`;
    this.count.setAttribute("aria-label", told);
    this.notes.hidden = !notes;
    this.notes.textContent = `${this.hasNotes ? "Hide" : "Show"} ${counted(notes, "note")}`;
    const fixable = this.listed.filter((each) => each.fixable).length;
    this.all.hidden = fixable < 2;
    this.all.textContent = `Fix all ${fixable}`;
    this.drawList();
  }

  drawList() {
    const focused = this.focused();
    const groups = [...Map.groupBy(this.listed, (each) => each.code).values()]
      .sort(([one], [other]) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity) || one.line - other.line);
    this.drawLead(groups.length);
    this.list.replaceChildren(...groups.map((group) => this.card(group)));
    if (this.more) this.list.append(el("li", { class: "empty" }, `${counted(this.more, "more finding")}: only the 1,000 most severe are listed`));
    this.list.hidden = !this.list.children.length;
    if (focused) this.focus(focused);
  }

  card(group) {
    const [{ code, severity }] = group;
    const details = { open: this.open.has(code), on: { toggle: (event) => this.open[event.target.open ? "add" : "delete"](code) } };
    const card = el("li", { class: `card ${severity}-card` }, groupParts(group, this.does, details));
    card.dataset.code = code;
    return card;
  }

  /** Say what to look at first, if there is a choice. */
  drawLead(groups) {
    const { first } = this;
    this.lead.hidden = !first || isNote(first) || groups < 2;
    if (this.lead.hidden) return;
    this.lead.replaceChildren(
      el("strong", {}, "Look first at "),
      el("button", { type: "button", class: "link", on: { click: () => this.does.show(first.line) } }, `line ${first.line}`),
      `: ${shown(first.message)} (${first.code})`);
  }

  /** Return the code and the number of the button that has the focus, if one in the list has. */
  focused() {
    const card = document.activeElement?.closest?.("[data-code]");
    if (!card || !this.list.contains(card)) return null;
    return { code: card.dataset.code, at: [...card.querySelectorAll("button, summary")].indexOf(document.activeElement) };
  }

  /** Put the focus where it was before the list was drawn anew, or near it. */
  focus({ code, at }) {
    const card = [...this.list.children].find((each) => each.dataset.code === code) ?? this.list.querySelector("[data-code]");
    const buttons = card?.querySelectorAll("button, summary") ?? [];
    (buttons[Math.min(at, buttons.length - 1)] ?? this.sum).focus({ preventScroll: true });
  }

  /** Return the elements of a mark's popover. */
  explain(findings) {
    return findings.map((finding) => findingParts(finding, this.does));
  }

  /** Fix findings, which rarely changes access. */
  fix(findings) {
    const codes = [...new Set(findings.map((each) => each.code))].join(", ");
    return this.change(findings.flatMap((each) => each.edits), `Fixed ${codes}.`);
  }

  /** Apply the suggestion of a finding, which may change access. */
  apply(finding) {
    return this.change(finding.proposal, `Applied the suggestion for ${finding.code} in line ${finding.line}.`);
  }

  /** Change the text, and say what that changes for crawlers. */
  async change(edits, told) {
    // The edits are those of the text that was checked.
    if (this.of === null || this.of !== state.robots.toWellFormed()) return;
    const before = this.of;
    const after = edited(before, edits);
    this.replaceText(after, told);
    try {
      const diff = await ask("diff", { before: { robots: before }, after: { robots: after }, dialect: state.dialect });
      if (state.robots.toWellFormed() === after) this.say(`${told} ${effectOf(diff)}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
}
