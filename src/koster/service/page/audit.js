// The tab Crawlers: which crawlers are allowed or blocked, by purpose and one by one.

import { ask, Latest, Problem } from "./api.js";
import { counted, el, shown, table } from "./dom.js";
import { state } from "./state.js";
import { failure } from "./test.js";

const SIGNS = { all: "✕", some: "◕", none: "✓" };
const MARK = " (?)";
const OBEYS = {
  control: "not a crawler: controls how pages may be used", "may ignore": "may ignore robots.txt",
  undocumented: "its operator does not say whether it obeys robots.txt", disputed: "site owners report that it ignores robots.txt",
  "no longer named": "its operator no longer names it",
};

export class AuditView {
  constructor(panel, { showLine }) {
    this.showLine = showLine;
    this.latest = new Latest(() => this.refresh(), 120);
    this.audit = null;
    this.label = null;
    this.overview = el("div");
    this.filters = el("div", { class: "filters", role: "group", "aria-label": "Show only" });
    this.name = el("input", { type: "search", id: "crawler-name", autocomplete: "off", spellcheck: false, on: { input: () => this.drawCrawlers() } });
    this.count = el("p", { class: "sum soft", role: "status" });
    this.crawlers = el("div");
    this.panel = panel;
    this.parts = [
      this.overview, el("h3", {}, "Crawlers"), this.filters,
      el("div", { class: "field" }, el("label", { htmlFor: "crawler-name" }, "Name or operator"), this.name),
      this.count, this.crawlers];
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    try {
      this.audit = await ask("audit", { robots: state.robots.toWellFormed(), dialect: state.dialect });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.panel.replaceChildren(failure(error));
      throw error;
    }
    if (this.overview.parentElement !== this.panel) this.panel.replaceChildren(...this.parts);
    this.draw();
  }

  draw() {
    const rows = this.audit.overview;
    if (!rows.some((row) => row.label === this.label)) this.label = null;
    this.overview.replaceChildren(
      table("Access by purpose", [], rows.map((row) => el("tr", {},
        el("th", { scope: "row" }, row.label),
        el("td", { class: `extent-${row.disallowed}` }, sign(row), shown(row.text))))),
      rows.some((row) => row.text.includes(MARK)) && el("p", { class: "soft" }, `${MARK.trim()} may ignore robots.txt, or its operator does not say`) || "",
      this.stated());
    const labels = [null, ...rows.map((row) => row.label)];
    const focused = document.activeElement?.dataset?.label;
    this.filters.replaceChildren(...labels.map((label) => {
      const button = el("button", { type: "button", "aria-pressed": String(label === this.label),
        on: { click: () => { this.label = label; this.draw(); } } }, label ?? "All");
      button.dataset.label = label ?? "";
      return button;
    }));
    if (focused !== undefined) this.filters.querySelector(`[data-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    this.drawCrawlers();
  }

  drawCrawlers() {
    const row = this.audit.overview.find((each) => each.label === this.label);
    const name = this.name.value.trim().toLowerCase();
    const found = this.audit.crawlers.filter((each) =>
      (!row || each.purposes.some((purpose) => row.purposes.includes(purpose))) &&
      (each.token.toLowerCase().includes(name) || each.operator.toLowerCase().includes(name)));
    const blocked = found.filter((each) => each.disallowed === "all").length;
    this.count.textContent = `${counted(found.length, "crawler")}, ${blocked.toLocaleString("en")} blocked`;
    this.crawlers.replaceChildren(found.length
      ? table("Crawlers", ["Crawler", "Access", "Group", "Line", "Source"], found.map((each) => this.row(each)))
      : el("p", { class: "empty" }, "No crawler has this name. koster agents lists all of them."));
  }

  row(each) {
    const remark = OBEYS[each.obeys];
    return el("tr", {},
      el("th", { scope: "row", class: "name" }, each.token, el("span", { class: "soft" }, `${each.operator}: ${each.purposes.join(", ")}`)),
      el("td", { class: `extent-${each.disallowed}` }, sign(each), shown(each.access), !each.proved && " (not proved)"),
      el("td", {}, each.how, remark && `; ${remark}`),
      el("td", {}, each.line !== null && el("button", { type: "button", class: "link", on: { click: () => this.showLine(each.line) } },
        `${each.line}: `, el("code", {}, shown(each.rule))), each.closing > 1 && ` and ${each.closing - 1} more`),
      el("td", { class: "tight" }, el("a", { href: each.source, rel: "noreferrer noopener", target: "_blank",
        title: "The page with these facts, and the day on which it was read" },
        el("span", { class: "narrow" }, "Source, read on "), each.checked)));
  }

  /** Return the preferences and licenses in the file. */
  stated() {
    const said = [
      ...this.audit.preferences.map((each) => [each.line, `${each.directive}: ${each.path ? `${each.path} ` : ""}${each.key}=${each.value}`]),
      ...this.audit.licenses.map((each) => [null, `License: ${each}`])];
    if (!said.length) return "";
    return el("div", {}, el("h3", {}, "Preferences and licenses"), el("ul", {}, said.map(([line, text]) =>
      el("li", {}, line !== null && el("button", { type: "button", class: "link", on: { click: () => this.showLine(line) } }, `line ${line}`), line !== null && " ", el("code", {}, shown(text))))));
  }
}

/** Return how much is blocked as a sign beside the words, which say it to screen readers. */
const sign = (each) => el("span", { "aria-hidden": "true" }, `${SIGNS[each.disallowed]} `);
