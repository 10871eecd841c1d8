// The tab Test: which URLs are allowed for which crawlers, and which line decides.

import { ask, Latest, Problem } from "./api.js";
import { el, shown, table } from "./dom.js";
import { state, urlsAsked } from "./state.js";

const WITHOUT_RULE = {
  "no rule": "no rule matches",
  "no group": "no group for this crawler",
  "robots.txt": "/robots.txt itself is always allowed",
  "URL too long": "the URL is too long for the many patterns of the file",
};

const EVERYBODY = "* (all other crawlers)";

export class TestView {
  constructor(panel, { showLine, changed }) {
    this.showLine = showLine;
    this.changed = changed;
    this.answers = [];
    //: The site whose file was loaded last, if any.
    this.site = null;
    this.chosen = null;
    this.latest = new Latest(() => this.refresh());
    this.chips = el("ul", { class: "chips", "aria-label": "Crawlers to test" });
    this.names = el("datalist", { id: "known" });
    this.name = el("input", { id: "agent", type: "text", autocapitalize: "none", spellcheck: false, maxLength: 1024,
      placeholder: "Name or User-Agent header", "aria-label": "Another crawler",
      on: { keydown: (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          this.add(this.name.value);
        }
      } } });
    this.name.setAttribute("list", "known");
    this.name.setAttribute("autocomplete", "off");
    this.urls = el("textarea", { id: "urls", rows: 5, spellcheck: false, autocapitalize: "none", wrap: "off",
      on: { input: () => {
        state.urls = this.urls.value;
        this.changed();
        this.ask();
      } } });
    this.sum = el("p", { class: "sum soft", role: "status" });
    this.result = el("div", {});
    panel.append(
      el("div", { class: "two" },
        el("fieldset", {}, el("legend", {}, "Crawlers"), this.chips,
          el("div", { class: "add" }, this.name, el("button", { type: "button", on: { click: () => this.add(this.name.value) } }, "Add")),
          this.names),
        el("div", { class: "field" }, el("label", { htmlFor: "urls" }, "URLs or paths, one per line"), this.urls)),
      this.sum, this.result);
  }

  /** Offer the known crawlers. */
  offer(crawlers) {
    this.names.replaceChildren(...crawlers.map((each) => el("option", { value: each.token, label: `${each.operator}: ${each.purpose}` })));
  }

  add(name) {
    const token = name.trim();
    if (!token) return;
    if (!state.agents.some((each) => each.toLowerCase() === token.toLowerCase())) state.agents.push(token);
    this.name.value = "";
    this.load();
    this.changed(true);
    this.ask();
  }

  remove(token) {
    const at = state.agents.indexOf(token);
    state.agents = state.agents.filter((each) => each !== token);
    this.load();
    const left = this.chips.querySelectorAll("button");
    (left[Math.min(at, left.length - 1)] || this.name).focus();
    this.changed(true);
    this.ask();
  }

  /** Show the crawlers and URLs of the state. */
  load() {
    if (this.urls.value !== state.urls) this.urls.value = state.urls;
    this.chips.replaceChildren(...(state.agents.length ? state.agents : ["*"]).map((token) =>
      el("li", { class: "chip" }, el("span", {}, token === "*" ? EVERYBODY : shown(token)),
        state.agents.length > 0 && el("button", { type: "button", "aria-label": shown(`Remove ${token}`), on: { click: () => this.remove(token) } }, "✕"))));
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    const urls = urlsAsked();
    const agents = state.agents.length ? state.agents : ["*"];
    if (!urls.length) {
      this.answers = [];
      this.sum.textContent = "";
      this.result.replaceChildren(el("p", { class: "empty" }, "Enter URLs or paths above, one per line."));
      return;
    }
    try {
      const answer = await ask("decide", { robots: state.robots.toWellFormed(), agents, urls, dialect: state.dialect });
      this.answers = answer.decisions;
      this.draw();
      performance.mark("koster:verdicts");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.sum.textContent = error.message;
      this.result.classList.add("stale");
      throw error;
    }
  }

  draw() {
    const allowed = this.answers.filter((each) => each.allowed).length;
    this.sum.textContent = `${allowed.toLocaleString("en")} allowed, ${(this.answers.length - allowed).toLocaleString("en")} blocked`;
    this.result.classList.remove("stale");
    const at = [...this.result.querySelectorAll("tbody tr")].findIndex((each) => each.contains(document.activeElement));
    this.result.replaceChildren(table("Verdicts", ["Verdict", "Crawler", "URL", "Decided by"], this.answers.map((each) => this.row(each))));
    // The focus stays in its row.
    if (at >= 0) this.result.querySelectorAll("tbody tr")[at]?.querySelector("button")?.focus({ preventScroll: true });
  }

  row(answer) {
    const key = `${answer.agent}\n${answer.url}`;
    const verdict = answer.allowed ? "allowed" : "blocked";
    const by = answer.line === null
      ? el("span", { class: "soft" }, WITHOUT_RULE[answer.reason] || answer.reason)
      : el("button", { type: "button", class: "link", title: shown(answer.sentence), on: { click: () => this.choose(key, answer.line) } },
        `line ${answer.line}: `, el("code", {}, shown(answer.rule)), answer.falls_back_to !== null && ` (falls back to ${answer.falls_back_to})`);
    return el("tr", { class: key === this.chosen ? "now" : "", on: { click: (event) => {
      if (answer.line !== null && !event.target.closest("button")) this.choose(key, answer.line);
    } } },
      el("td", { class: "tight" }, el("span", { class: `verdict ${answer.allowed ? "yes" : "no"}` }, verdict)),
      el("td", {}, answer.agent === "*" ? EVERYBODY : shown(answer.agent)),
      el("td", {}, el("code", {}, shown(answer.url)), this.remark(answer.url)),
      el("td", {}, by));
  }

  /** Return a warning about a URL that is probably meant differently. */
  remark(url) {
    if (!url.includes("://")) {
      return !/^[/?*]/.test(url) && el("div", { class: "warning" }, "no scheme: read as the path ", el("code", {}, shown(`/${url}`)));
    }
    let origin = null;
    try {
      ({ origin } = new URL(url));
    } catch {
      // It is tested as written.
    }
    return this.site && origin && origin !== this.site
      && el("div", { class: "warning" }, "not on ", el("code", {}, this.site), ": this file does not apply to it");
  }

  choose(key, line) {
    this.chosen = key;
    this.showLine(line);
    this.draw();
  }
}

/** Return what a tab shows instead of an answer. */
export const failure = (error) => el("p", { class: "empty" }, error.message);

/** Return a verdict with the line that decided. */
export function decidedBy(decided, showLine) {
  const verdict = el("span", { class: `verdict ${decided.allowed ? "yes" : "no"}` }, decided.allowed ? "allowed" : "blocked");
  if (decided.line === null) return [verdict, " ", el("span", { class: "soft" }, WITHOUT_RULE[decided.reason] || decided.reason)];
  const text = [`line ${decided.line}: `, el("code", {}, shown(decided.rule))];
  return [verdict, " ", showLine ? el("button", { type: "button", class: "link", on: { click: () => showLine(decided.line) } }, text) : el("span", {}, text)];
}
