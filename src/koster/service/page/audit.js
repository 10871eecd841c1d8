// The tab Who may: the known crawlers, as a picture and as a table.

import { ask, Latest, Problem } from "./api.js";
import { el, shown, table } from "./dom.js";
import { state } from "./state.js";
import { failure } from "./test.js";

const SIGNS = { all: "✕", some: "◕", none: "✓" };
const WORDS = { all: "nothing", some: "a part", none: "everything" };
const OBEYS = {
  "own groups": "ignores *", nothing: "ignores the file", control: "a control, not a crawler", "may ignore": "may ignore the file",
  undocumented: "its operator does not say whether it obeys the file", disputed: "whether it obeys the file is disputed",
};

export class AuditView {
  constructor(panel, { showLine }) {
    this.panel = panel;
    this.showLine = showLine;
    this.latest = new Latest(() => this.refresh(), 120);
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    try {
      this.draw(await ask("audit", { robots: state.robots.toWellFormed(), dialect: state.dialect }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.panel.replaceChildren(failure(error));
      throw error;
    }
  }

  draw(audit) {
    const purposes = Map.groupBy(audit.crawlers, (each) => each.purpose);
    const focused = document.activeElement?.dataset?.token;
    this.panel.replaceChildren(
      el("p", { class: "lead" }, audit.summary),
      el("div", { class: "who" }, [...purposes].map(([purpose, crawlers]) => this.squares(purpose, crawlers))),
      el("p", { class: "legend" }, Object.keys(SIGNS).map((extent) => el("span", {}, el("b", { class: extent, "aria-hidden": "true" }, SIGNS[extent]), `may fetch ${WORDS[extent]}`))),
      this.stated(audit),
      ...[...purposes].flatMap(([purpose, crawlers]) => [
        el("h3", {}, purpose[0].toUpperCase() + purpose.slice(1)),
        table(`Crawlers: ${purpose}`, ["Crawler", "Operator", "May fetch", "How", "Line", "Checked on"], crawlers.map((each) => this.row(each)))]));
    if (focused) this.panel.querySelector(`[data-token="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  squares(purpose, crawlers) {
    const order = Object.keys(SIGNS);
    const sorted = [...crawlers].sort((one, other) => order.indexOf(one.disallowed) - order.indexOf(other.disallowed));
    const shut = crawlers.filter((each) => each.disallowed === "all").length;
    return el("div", { class: "who-row" },
      el("strong", {}, purpose),
      el("ul", { class: "squares", "aria-label": purpose }, sorted.map((each) => {
        const told = `${each.token}: may fetch ${WORDS[each.disallowed]}`;
        const square = el("button", { type: "button", class: each.disallowed, title: told, "aria-label": told,
          on: { click: () => (each.line ? this.showLine(each.line) : this.showLine(0)) } }, SIGNS[each.disallowed]);
        square.dataset.token = each.token;
        return el("li", {}, square);
      })),
      el("span", {}, `${shut} of ${crawlers.length} shut out`));
  }

  row(each) {
    const how = each.falls_back_to !== null ? `falls back to ${each.falls_back_to}` : each.named ? "by name" : "by *";
    const remark = OBEYS[each.obeys];
    const others = each.purposes.slice(1).join(", ");
    return el("tr", {},
      el("td", {}, el("a", { href: each.source, rel: "noreferrer noopener", target: "_blank" }, each.token)),
      el("td", {}, each.operator),
      el("td", { class: `tight extent-${each.disallowed}` }, `${SIGNS[each.disallowed]} ${WORDS[each.disallowed]}`),
      el("td", {}, remark ? `${how}; ${remark}` : how, others && `; also ${others}`, each.proved ? "" : "; not proved"),
      el("td", {}, each.line !== null && el("button", { type: "button", class: "link", on: { click: () => this.showLine(each.line) } },
        `${each.line}: `, el("code", {}, shown(each.rule))), each.closing > 1 && ` and ${each.closing - 1} more`),
      el("td", { class: "tight" }, el("a", { href: each.source, rel: "noreferrer noopener", target: "_blank", title: "The page with these facts" }, each.checked)));
  }

  stated(audit) {
    const said = [
      ...audit.preferences.map((each) => [each.line, `${each.directive}: ${each.path ? `${each.path} ` : ""}${each.key}=${each.value}`]),
      ...audit.licenses.map((each) => [null, `License: ${each}`])];
    if (!said.length) return el("p", { class: "soft" }, "The file states no preferences and no licence.");
    return el("div", {}, el("h3", {}, "Preferences and licences"), el("ul", {}, said.map(([line, text]) =>
      el("li", {}, line !== null && el("button", { type: "button", class: "link", on: { click: () => this.showLine(line) } }, `line ${line}`), line !== null && " ", el("code", {}, shown(text))))));
  }
}
