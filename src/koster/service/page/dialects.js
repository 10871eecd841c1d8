// The tab Dialects: which dialects decide differently, on which URLs.

import { ask, Latest, Problem } from "./api.js";
import { capitalized, crawlerNames, el, shown } from "./dom.js";
import { state } from "./state.js";
import { decidedBy, failure } from "./test.js";

const SHOWN = 5;

export class DialectsView {
  constructor(panel, { showLine, testUrl }) {
    this.panel = panel;
    this.showLine = showLine;
    this.testUrl = testUrl;
    this.sources = new Map();
    this.latest = new Latest(() => this.refresh(), 120);
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    const agents = [...new Set([...state.agents.slice(0, 9), "*"])];
    try {
      this.draw(await ask("disagree", { robots: state.robots.toWellFormed(), dialect: state.dialect, agents }), agents);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.panel.replaceChildren(failure(error));
      throw error;
    }
  }

  draw(answer, agents) {
    const by = Map.groupBy(answer.disagreements, (each) => each.dialect);
    this.panel.replaceChildren(
      el("p", { class: "lead" }, `Dialect: ${answer.dialect}. ${by.size === 0 ? "All other dialects decide" : `${by.size} of ${answer.dialects.length} other dialects ${by.size === 1 ? "decides" : "decide"}`} ${by.size === 0 ? "the same" : "differently"} for ${crawlerNames(agents, agents.length)}.`),
      el("ul", { class: "cards" }, answer.dialects.map((dialect) => this.card(dialect, by.get(dialect) || []))));
  }

  card(dialect, found) {
    // Crawlers with the same differences are shown together.
    const alike = Map.groupBy(found, (each) => JSON.stringify([each.differences, each.proved]));
    const groups = [...alike.values()].map((some) => ({ ...some[0], agents: some.map((each) => each.agent) }));
    return el("li", { class: found.length ? "card warning-card" : "card" },
      el("strong", {}, dialect), " ", el("span", { class: "soft" }, this.sources.get(dialect) || ""),
      found.length === 0 && el("p", { class: "yes" }, "✓ decides every URL the same (proved)"),
      groups.map((each) => [
        el("h3", {}, capitalized(crawlerNames(each.agents, each.agents.length))),
        el("ul", {}, each.differences.slice(0, SHOWN).map((difference) => el("li", {},
          el("button", { type: "button", class: "link", on: { click: () => this.testUrl(difference.url) } }, el("code", {}, shown(difference.url))),
          ": ", decidedBy(difference.after, this.showLine), el("span", { class: "soft" }, " instead of "), decidedBy(difference.before, this.showLine)))),
        each.differences.length > SHOWN && el("p", { class: "soft" }, `and ${each.differences.length - SHOWN} more`),
        !each.proved && el("p", { class: "warning" }, "There may be more (not proved).")]));
  }
}
