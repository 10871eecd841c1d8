// The tab Compare: what an edit changes for crawlers, with a URL for each difference.

import { ask, Latest, Problem } from "./api.js";
import { capitalized, crawlerNames, el, shown, table } from "./dom.js";
import { Editor } from "./editor.js";
import { state } from "./state.js";
import { decidedBy, failure } from "./test.js";

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
        el("p", { class: "soft" }, "After: the file in the editor."),
        el("button", { type: "button", on: { click: () => this.take(state.robots) } }, "Use the file in the editor")),
      place,
      el("form", { class: "add", on: { submit: (event) => {
        event.preventDefault();
        loadOther(this.site.value, () => this.editor.value, (text) => this.take(text));
      } } }, el("label", { class: "compact", htmlFor: "other-site" }, "Or from a site"), this.site, el("button", { type: "submit" }, "Load before")),
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
      this.result.replaceChildren(el("p", { class: "empty" }, "Choose the file before the change: use the one in the editor and then edit it, load a site's, or paste one."));
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
    const proof = answer.proved ? "" : " There may be more (not proved).";
    const told = answer.decides_alike
      ? "No access changes (proved)."
      : `Access changes: ${opened} newly allowed, ${urls.length - opened} newly blocked (one URL for each pair of rules).${proof}`;
    this.result.replaceChildren(
      el("p", { class: "lead" }, told),
      ...answer.changes.flatMap((change) => this.change(change)),
      ...(answer.settings.length ? [el("h3", {}, "The whole site"), this.settings(answer.settings)] : []));
  }

  change(change) {
    const most = 100;
    const rows = change.differences.slice(0, most).map((each) => el("tr", {},
      el("td", { class: `tight ${each.opened ? "yes" : "no"}` }, each.opened ? "now allowed" : "now blocked"),
      el("td", {}, el("button", { type: "button", class: "link", on: { click: () => this.testUrl(each.url) } }, el("code", {}, shown(each.url)))),
      el("td", {}, decidedBy(each.before, (line) => this.editor.show(line))),
      el("td", {}, decidedBy(each.after, this.showLine))));
    return [
      el("h3", {}, capitalized(crawlerNames(change.agents.includes("*") ? ["*"] : change.agents))),
      rows.length > 0 && table("Differences", ["Change", "URL", "Before", "After"], rows),
      change.differences.length > most && el("p", { class: "soft" }, `and ${change.differences.length - most} more`),
      !change.proved && el("p", { class: "warning" }, "There may be more (not proved)."),
      change.settings.length > 0 && this.settings(change.settings)].filter(Boolean);
  }

  settings(settings) {
    return table("Other changes", ["Setting", "Before", "After"], settings.map((each) => el("tr", {},
      el("th", { scope: "row" }, each.name),
      el("td", {}, el("code", {}, shown(each.before.join(", ") || "–"))),
      el("td", {}, el("code", {}, shown(each.after.join(", ") || "–"))))));
  }
}
