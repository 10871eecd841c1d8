// The tab Signals: what a site says about the use of a page, and where.

import { ask, get, Latest, Problem } from "./api.js";
import { capitalized, counted, crawlerNames, el, shown, table } from "./dom.js";
import { state } from "./state.js";
import { failure } from "./test.js";

const SIGNS = { yes: "✓", no: "✕", unstated: "–", undecided: "?", conflict: "!" };
const LOOKS = { yes: "extent-none", no: "extent-all", unstated: "soft", undecided: "extent-some", conflict: "extent-some" };
const NAMES = {
  search: "Search", snippet: "Snippets", archive: "Archives", "ai-input": "AI answers", "ai-train": "AI training", tdm: "Text and data mining",
};
//: What the service reads of a page, and one more so that it says so.
const MAX_HTML = 256 * 1024 + 1;
const MOST_SOURCES = 4;

export class SignalsView {
  constructor(panel, { showLine, changed }) {
    this.showLine = showLine;
    this.changed = changed;
    this.latest = new Latest(() => this.refresh(), 120);
    //: The URL of the page to fetch, if any, and the question that was answered last.
    this.toFetch = null;
    this.answered = null;
    this.url = el("input", { type: "text", id: "page-url", inputMode: "url", placeholder: "/", autocapitalize: "none", spellcheck: false, maxLength: 8192,
      on: { input: () => this.edited("page", this.url.value) } });
    this.url.setAttribute("autocomplete", "off");
    this.headers = this.area("page-headers", "headers", "X-Robots-Tag: noai");
    this.html = this.area("page-html", "html", '<meta name="robots" content="noai">');
    this.details = el("details", { class: "field" }, el("summary", {}, "Headers and HTML of the page"),
      el("div", { class: "two" },
        el("div", { class: "field" }, el("label", { htmlFor: "page-headers" }, "Response headers, one per line"), this.headers),
        el("div", { class: "field" }, el("label", { htmlFor: "page-html" }, "HTML"), this.html)));
    this.sum = el("p", { class: "sum soft", role: "status" });
    this.result = el("div");
    panel.append(
      el("form", { class: "field", on: { submit: (event) => {
        event.preventDefault();
        this.fetchPage();
      } } },
        el("label", { htmlFor: "page-url" }, "URL or path of the page"),
        el("div", { class: "add" }, this.url, el("button", { type: "submit" }, "Fetch page"))),
      this.details, this.sum, this.result);
  }

  area(id, name, placeholder) {
    const made = el("textarea", { id, rows: 4, spellcheck: false, autocapitalize: "none", wrap: "off", placeholder,
      on: { input: () => this.edited(name, made.value) } });
    return made;
  }

  edited(name, value) {
    state[name] = value;
    this.changed();
    this.ask();
  }

  /** Show the page of the state. */
  load() {
    for (const [field, name] of [[this.url, "page"], [this.headers, "headers"], [this.html, "html"]]) {
      if (field.value !== state[name]) field.value = state[name];
    }
    if (state.headers || state.html) this.details.open = true;
  }

  question() {
    const headers = headersIn(state.headers);
    return {
      url: state.page.trim().toWellFormed() || "/", robots: state.robots.toWellFormed(), dialect: state.dialect,
      ...(headers.length && { headers }), ...(state.html.trim() && { html: state.html.slice(0, MAX_HTML).toWellFormed() }),
    };
  }

  /** Ask about the text in the editor, unless nothing has changed: a page that was fetched stays. */
  ask() {
    if (JSON.stringify(this.question()) === this.answered) return;
    this.toFetch = null;
    this.latest.ask();
  }

  askAgain() {
    this.answered = null;
    this.ask();
    this.url.focus();
  }

  fetchPage() {
    const url = state.page.trim();
    if (!url || url.startsWith("/")) {
      this.tell("Enter the URL of a page, such as example.com/press");
      return;
    }
    this.toFetch = url;
    this.sum.textContent = `Fetching ${shown(url)} and what its site has …`;
    this.latest.ask();
  }

  tell(text) {
    this.sum.textContent = text;
    this.answered = null;
  }

  async refresh() {
    const question = this.question();
    const url = this.toFetch;
    const mistake = url === null && mistakeIn(question.url, state.headers);
    if (mistake) {
      this.tell(mistake);
      this.result.classList.add("stale");
      return;
    }
    // So that the answer is not asked for again when the tab is chosen.
    this.answered = JSON.stringify(question);
    try {
      const answer = url === null ? await ask("signals", question) : await get("signals", { url, dialect: state.dialect });
      this.draw(answer);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.tell("");
      this.result.classList.remove("stale");
      this.result.replaceChildren(failure(error));
      // What is fetched is not tried again by itself.
      if (url === null) throw error;
    }
  }

  draw(answer) {
    const isFetched = answer.fetched !== null;
    //: The lines of a file that was fetched are not those of the editor.
    this.show = isFetched ? null : this.showLine;
    const unread = answer.unread.length ? `, ${counted(answer.unread.length, "source")} not read` : "";
    this.sum.textContent = isFetched
      ? `Fetched ${shown(answer.url)}, with the robots.txt of its site instead of the text in the editor${unread}`
      : `By the text in the editor${otherSources(state)}${unread}`;
    this.result.classList.remove("stale");
    this.result.replaceChildren(
      isFetched ? el("p", { class: "sum" }, el("button", { type: "button", on: { click: () => this.askAgain() } }, "Read the text in the editor")) : "",
      ...answer.unread.map((each) => el("p", { class: "warning unread" }, el("strong", {}, "Not read: "), shown(each))),
      table("Uses of the page", ["Use", "Stated", "By"], [...this.rows(answer)]),
      ...this.more("Crawlers that are blocked from the page", [...Map.groupBy(answer.crawl.filter((each) => !each.allowed), (each) => each.line).values()], ([first, ...others]) => [
        crawlerNames([first, ...others].map((each) => each.crawler)),
        first.line !== null && [": ", this.place({ where: `robots.txt, line ${first.line}`, line: first.line, text: first.rule })]]),
      ...this.more("Never seen, or without effect", answer.unseen, (each) => [
        `${each.crawler === "*" ? "Everybody" : shown(each.crawler)}: `, el("code", {}, shown(each.signal)), ` (${shown(each.where)}), as ${shown(each.because)}`]),
      ...this.more("Conflicts: the most restrictive counts", answer.conflicts, (each) => [
        `${NAMES[each.use]}${each.for === "*" ? "" : ` for ${shown(each.for)}`}: `, this.place(each.yes), " against ", this.place(each.no)]),
      ...this.more("Licenses", answer.licenses, (each) => [el("code", {}, shown(each.url)), ` (${shown(each.where)})`]),
      ...this.more("Notes", answer.notes, (each) => shown(each)),
      el("p", { class: "soft legal" }, "These are stated preferences, not legal advice."));
  }

  /** Yield a row for each use, then rows for crawlers that have another answer. */
  * rows(answer) {
    for (const everybody of answer.uses.filter((each) => each.for === "*")) {
      yield this.row(NAMES[everybody.use], everybody.stated, everybody.sources, "name");
      const others = answer.uses.filter((each) => each.use === everybody.use && each.for !== "*" && each.stated !== everybody.stated);
      for (const [stated, some] of Map.groupBy(others, (each) => each.stated)) {
        const names = capitalized(crawlerNames(some.map((each) => each.for), 4));
        yield this.row(names, stated, some.flatMap((each) => each.sources), "other");
      }
    }
  }

  row(what, stated, sources, kind) {
    const distinct = [...new Map(sources.map((each) => [`${each.text}\n${each.where}`, each])).values()];
    const more = distinct.length - MOST_SOURCES;
    return el("tr", {},
      el("th", { scope: "row", class: kind }, kind === "other" && el("span", { class: "unseen" }, "For "), what),
      el("td", { class: `tight ${LOOKS[stated]}` }, el("span", { "aria-hidden": "true" }, `${SIGNS[stated]} `), stated),
      el("td", {}, el("ul", { class: "sources" }, distinct.slice(0, MOST_SOURCES).map((each) => el("li", {}, this.place(each)))),
        more > 0 && ` and ${more} more`));
  }

  /** Return the words of a source with its place; a line of the editor as a button. */
  place(source) {
    const text = el("code", {}, shown(source.text));
    if (source.line === null || !this.show) return [text, ` (${shown(source.where)})`];
    const { show } = this;
    return el("button", { type: "button", class: "link", on: { click: () => show(source.line) } }, `line ${source.line}: `, text);
  }

  /** Return a heading and a list, unless it is empty. */
  more(title, items, words) {
    return items.length ? [el("h3", {}, title), el("ul", {}, items.map((each) => el("li", {}, words(each))))] : [];
  }
}

const STATUS_LINE = /^HTTP\/[0-9.]+ /;

const isHeader = (line) => line.indexOf(":") > 0 || STATUS_LINE.test(line);

/** Return what is wrong with a page and its headers as they are written, "" if nothing is. */
function mistakeIn(url, headers) {
  if (!/^\/|:\/\//.test(url)) return "Enter a path that starts with /, or an absolute URL. Fetch page also takes example.com.";
  const line = headers.split("\n").findIndex((each) => each.trim() && !isHeader(each));
  return line < 0 ? "" : `Headers, line ${line + 1}: write NAME: VALUE`;
}

/** Return the names and values of headers, without a status line, which tools print, too. */
function headersIn(text) {
  return text.split("\n").filter((line) => line.trim() && isHeader(line) && !STATUS_LINE.test(line)).map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).trim().toWellFormed(), line.slice(colon + 1).trim().toWellFormed()];
  });
}

/** Return what is read beside the text in the editor, in words. */
function otherSources({ headers, html }) {
  const others = [headers.trim() && "headers", html.trim() && "HTML"].filter(Boolean);
  return others.length ? `, ${others.join(" and ")}` : "";
}
