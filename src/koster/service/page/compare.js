// The tab Compare: what a change of the file changes, with a URL for each difference.

import { ask, Latest, Problem } from "./api.js";
import { counted, el, shown, table } from "./dom.js";
import { Editor } from "./editor.js";
import { state } from "./state.js";
import { decidedBy, failure } from "./test.js";

const NAMED = 6;

export class CompareView {
  constructor(panel, { showLine, testUrl, changed, loadOther }) {
    this.showLine = showLine;
    this.testUrl = testUrl;
    this.changed = changed;
    this.latest = new Latest(() => this.refresh(), 120);
    const place = el("div", { class: "editor small" });
    this.result = el("div", { class: "result", "aria-live": "polite" });
    this.site = el("input", { type: "text", id: "other-site", inputMode: "url", placeholder: "example.com", autocapitalize: "none", spellcheck: false, maxLength: 2048 });
    panel.append(
      el("div", { class: "pane-head" },
        el("h3", { id: "other-title" }, "Before"),
        el("p", { class: "soft" }, "The file on the left is how it is after."),
        el("button", { type: "button", on: { click: () => this.take(state.robots) } }, "Take the file on the left")),
      place,
      el("form", { class: "add", on: { submit: (event) => {
        event.preventDefault();
        loadOther(this.site.value, () => this.editor.value, (text) => this.take(text));
      } } }, el("label", { class: "compact", htmlFor: "other-site" }, "or the one at"), this.site, el("button", { type: "submit" }, "Load before")),
      this.result);
    this.editor = new Editor(place, "The robots.txt before", { changed: (text) => {
      state.other = text;
      this.changed();
      this.ask();
    } });
  }

  take(text) {
    state.other = text;
    this.load();
    this.changed();
    this.ask();
  }

  load() {
    if (this.editor.value !== (state.other ?? "")) this.editor.value = state.other ?? "";
  }

  ask() {
    this.latest.ask();
  }

  async refresh() {
    if (state.other === null) {
      this.result.replaceChildren(el("p", { class: "empty" }, "Which file to compare with? Take the one on the left and change that, load a site's, or paste one."));
      return;
    }
    try {
      this.draw(await ask("diff", {
        before: { robots: state.other.toWellFormed() }, after: { robots: state.robots.toWellFormed() }, dialect: state.dialect }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.result.replaceChildren(failure(error));
      throw error;
    }
  }

  draw(answer) {
    const urls = answer.changes.flatMap((change) => change.differences);
    const opened = urls.filter((each) => each.opened).length;
    const proof = answer.proved ? "" : " At least: the rest is not proved.";
    const told = answer.decides_alike
      ? "Every robot may fetch what it might before: proved."
      : `Robots may fetch other URLs: ${opened} opened, ${urls.length - opened} closed (pairs of lines that decide).${proof}`;
    this.result.replaceChildren(
      el("p", { class: "lead" }, told),
      ...answer.changes.flatMap((change) => this.change(change)),
      ...(answer.settings.length ? [el("h3", {}, "The whole site"), this.settings(answer.settings)] : []));
  }

  change(change) {
    const most = 100;
    const rows = change.differences.slice(0, most).map((each) => el("tr", {},
      el("td", { class: `tight ${each.opened ? "yes" : "no"}` }, each.opened ? "opened" : "closed"),
      el("td", {}, el("button", { type: "button", class: "link", on: { click: () => this.testUrl(each.url) } }, el("code", {}, shown(each.url)))),
      el("td", {}, decidedBy(each.before, (line) => this.editor.show(line))),
      el("td", {}, decidedBy(each.after, this.showLine))));
    return [
      el("h3", {}, who(change.agents)),
      rows.length > 0 && table("Differences", ["Change", "URL", "Before", "After"], rows),
      change.differences.length > most && el("p", { class: "soft" }, `and ${change.differences.length - most} more`),
      !change.proved && el("p", { class: "warning" }, "Not proved: there may be more."),
      change.settings.length > 0 && this.settings(change.settings)].filter(Boolean);
  }

  settings(settings) {
    return table("What else is said", ["Setting", "Before", "After"], settings.map((each) => el("tr", {},
      el("th", { scope: "row" }, each.name),
      el("td", {}, el("code", {}, shown(each.before.join(", ") || "–"))),
      el("td", {}, el("code", {}, shown(each.after.join(", ") || "–"))))));
  }
}

/** Return the robots of a change in words. */
function who(agents) {
  if (agents.includes("*")) return "Robots without a group of their own";
  const more = agents.length - NAMED;
  return agents.slice(0, NAMED).map(shown).join(", ") + (more > 0 ? ` and ${counted(more, "other")}` : "");
}
