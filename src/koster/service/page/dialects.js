// The tab Dialects: who reads the file differently, on which URL.

import { ask, Latest, Problem } from "./api.js";
import { el, shown } from "./dom.js";
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
    const agents = [...new Set(["*", ...state.agents])].slice(0, 10);
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
      el("p", { class: "lead" }, `The file is read as ${answer.dialect}. ${by.size === 0 ? "Every other reading" : `Of ${answer.dialects.length} other readings ${answer.dialects.length - by.size}`} decides every URL alike for ${agents.map((agent) => (agent === "*" ? "robots without a group" : shown(agent))).join(", ")}.`),
      el("ul", { class: "cards" }, answer.dialects.map((dialect) => this.card(dialect, by.get(dialect) || []))));
  }

  card(dialect, found) {
    // Robots that are told the same stand together.
    const alike = Map.groupBy(found, (each) => JSON.stringify([each.differences, each.proved]));
    const groups = [...alike.values()].map((some) => ({ ...some[0], agents: some.map((each) => each.agent) }));
    return el("li", { class: found.length ? "card warning-card" : "card" },
      el("strong", {}, dialect), " ", el("span", { class: "soft" }, this.sources.get(dialect) || ""),
      found.length === 0 && el("p", { class: "yes" }, "✓ decides every URL alike: proved"),
      groups.map((each) => [
        el("h3", {}, named(each.agents)),
        el("ul", {}, each.differences.slice(0, SHOWN).map((difference) => el("li", {},
          el("button", { type: "button", class: "link", on: { click: () => this.testUrl(difference.url) } }, el("code", {}, shown(difference.url))),
          ": ", decidedBy(difference.after, this.showLine), el("span", { class: "soft" }, " instead of "), decidedBy(difference.before, this.showLine)))),
        each.differences.length > SHOWN && el("p", { class: "soft" }, `and ${each.differences.length - SHOWN} more`),
        !each.proved && el("p", { class: "warning" }, "Not proved: there may be more.")]));
  }
}

/** Return robots in words. */
function named(agents) {
  const names = agents.map((agent) => (agent === "*" ? "robots without a group of their own" : shown(agent))).join(", ");
  return names[0].toUpperCase() + names.slice(1);
}
