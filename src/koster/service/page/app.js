// The page: it connects the editor, the tabs and the state.

import { get, Problem } from "./api.js";
import { AuditView } from "./audit.js";
import { CompareView } from "./compare.js";
import { DialectsView } from "./dialects.js";
import { byId, counted, el, shown } from "./dom.js";
import { Editor } from "./editor.js";
import { FindingsView } from "./findings.js";
import { Menu } from "./menu.js";
import { SignalsView } from "./signals.js";
import { fetched, showFetched } from "./site.js";
import { asFragment, EXAMPLE, fromFragment, state, TABS } from "./state.js";
import { TestView } from "./test.js";

const LINK_LIMIT = 1_900_000;
const KEPT_LIMIT = 30_000;

let keeping = 0;

/** Show a message, with a button if there is an action, and details below. */
function say(text, action = null, details = []) {
  const message = byId("message");
  const hasFocus = message.contains(document.activeElement);
  message.replaceChildren(
    shown(text), ...(action ? [el("button", { type: "button", on: { click: action.run } }, action.name)] : []), ...details);
  if (hasFocus) message.querySelector("button")?.focus();
}

const undo = {
  name: "Undo",
  run: () => {
    editor.undo();
    byId("message").replaceChildren();
    editor.text.focus();
  },
};

/** Replace the text in the editor. */
function replaceText(text, told, details = []) {
  editor.value = text;
  edited(editor.value);
  say(told, undo, details);
  // The button that was pressed may have been in a popover, which is closed now.
  if (document.activeElement === document.body) byId("message").querySelector("button").focus();
}

/** Replace the text with one that is no site's. */
function startFrom(text, told, details) {
  views.test.site = null;
  byId("fetched").hidden = true;
  replaceText(text, told, details);
}

function presetDetails(preset) {
  return [
    el("p", {}, "Who stays allowed:"),
    el("ul", {}, preset.allowed.map((each) => el("li", {}, each))),
    preset.source && el("p", {}, "Source of the paths: ", el("a", { href: preset.source, rel: "noreferrer noopener", target: "_blank" }, preset.source))].filter(Boolean);
}

/** Offer the example and the presets. */
function offerExamples(presets) {
  new Menu(byId("examples"), byId("example-menu")).offer([
    { title: "Short example", run: () => startFrom(EXAMPLE, "The example replaced the text.") },
    ...presets.map((preset) => ({
      title: preset.title, name: preset.name, run: () => startFrom(preset.robots, `${preset.title}.`, presetDetails(preset)) }))]);
}

async function loadExamples() {
  try {
    offerExamples((await get("presets")).presets);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    offerExamples([]);
  }
}

/** Keep the state in the address, if that is not too long. */
function changed(now = false) {
  clearTimeout(keeping);
  keeping = setTimeout(async () => {
    const fragment = await asFragment();
    if (fragment.length <= KEPT_LIMIT) history.replaceState(null, "", `#${fragment}`);
    else if (location.hash) history.replaceState(null, "", location.pathname);
  }, now ? 0 : 400);
}

function edited(text) {
  state.robots = text;
  // The message's Undo would no longer undo its own change; Ctrl+Z still works.
  byId("message").replaceChildren();
  facts();
  // The visible tab is updated first.
  views[state.tab].ask();
  if (state.tab !== "findings") views.findings.ask();
  changed();
}

function facts() {
  const bytes = new Blob([state.robots]).size;
  const source = state.dialect === names[0] ? "" : ` · dialect: ${views.dialects.sources.get(state.dialect)}`;
  byId("facts").textContent = `${counted(editor.rows, "line")}, ${counted(bytes, "byte")}${source}`;
}

function showLine(line) {
  editor.show(line);
  if (line && matchMedia("(max-width: 900px)").matches) byId("editor").scrollIntoView({ block: "center" });
}

function testUrl(url) {
  const lines = state.urls.split("\n").filter((each) => each.trim());
  if (!lines.includes(url)) lines.push(url);
  state.urls = lines.join("\n");
  views.test.load();
  views.test.ask();
  choose("test", true);
}

/** Choose a tab. */
function choose(name, focus = false) {
  state.tab = name;
  for (const tab of TABS) {
    const button = byId(`tab-${tab}`);
    button.setAttribute("aria-selected", String(tab === name));
    button.tabIndex = tab === name ? 0 : -1;
    byId(`panel-${tab}`).hidden = tab !== name;
  }
  if (focus) byId(`tab-${name}`).focus();
  views[name].ask();
  changed();
}

byId("tabs").addEventListener("keydown", (event) => {
  const at = TABS.indexOf(state.tab);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(TABS[(to + TABS.length) % TABS.length], true);
});
for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => choose(tab));

const editor = new Editor(byId("editor"), "The text of the robots.txt", {
  changed: edited,
  explain: (findings) => views.findings.explain(findings),
});

const common = { showLine, testUrl, changed };
const views = {
  test: new TestView(byId("panel-test"), common),
  findings: new FindingsView(byId("panel-findings"), { ...common, replaceText, editor, count: byId("count"), say: (text) => say(text, undo) }),
  audit: new AuditView(byId("panel-audit"), common),
  signals: new SignalsView(byId("panel-signals"), common),
  compare: new CompareView(byId("panel-compare"), { ...common, loadOther: load }),
  dialects: new DialectsView(byId("panel-dialects"), common),
};

let loads = 0;

/** Fetch a site's file, show its hops, and hand its text to `take`; only the last call counts. */
async function load(site, current, take) {
  loads += 1;
  const number = loads;
  const before = current();
  if (!site.trim()) {
    say("Enter a site, such as example.com.");
    return;
  }
  say(`Loading ${site} …`);
  try {
    const found = await fetched(site.trim(), state.dialect);
    if (number !== loads) return;
    byId("message").replaceChildren();
    showFetched(byId("fetched"), found);
    if (found.body === null && found.outcome !== "unavailable") {
      say(`${found.site} returned no file. The text has not changed.`);
    } else if (current() !== before) {
      say(`Loaded ${found.url}. You have edited the text since: replace it?`, { name: "Replace the text", run: () => take(found.body ?? "", found) });
    } else {
      take(found.body ?? "", found);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (number === loads) say(error.message);
  }
}

byId("load").addEventListener("submit", (event) => {
  event.preventDefault();
  load(byId("site").value, () => editor.value, (text, found) => {
    views.test.site = found.site;
    replaceText(text, found.body === null ? `${found.site} has no robots.txt: crawlers read that like an empty one.` : `Loaded ${found.url}.`);
  });
});

byId("dialect").addEventListener("change", (event) => {
  state.dialect = event.target.value;
  facts();
  for (const name of new Set([state.tab, "findings"])) views[name].ask();
  changed();
});

byId("share").addEventListener("click", async () => {
  const fragment = await asFragment();
  if (fragment.length > LINK_LIMIT) {
    say("The file is too long for a link: browsers accept about two million characters.");
    return;
  }
  history.replaceState(null, "", `#${fragment}`);
  const long = fragment.length > KEPT_LIMIT ? " It is long: some programs truncate such links." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    say(`Link copied. It contains the file and the questions; no server stores them.${long}`);
  } catch {
    say(`The link is in the address bar. It contains the file and the questions; no server stores them.${long}`);
  }
});

function showState() {
  byId("dialect").value = state.dialect;
  if (editor.value !== state.robots) editor.value = state.robots;
  state.robots = editor.value;
  facts();
  views.test.load();
  views.signals.load();
  views.compare.load();
  choose(state.tab);
  if (state.tab !== "findings") views.findings.ask();
}

addEventListener("hashchange", async () => {
  if (await fromFragment(location.hash.slice(1), names)) showState();
});

let names = ["RFC9309"];

async function start() {
  const begin = location.hash.slice(1);
  try {
    const { dialects } = await get("dialects");
    names = dialects.map((each) => each.name);
    byId("dialect").replaceChildren(...dialects.map((each) => el("option", { value: each.name, title: each.source }, each.name)));
    views.dialects.sources = new Map(dialects.map((each) => [each.name, each.source]));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    byId("dialect").replaceChildren(el("option", { value: "RFC9309" }, "RFC9309"));
    say(error.message);
  }
  if (begin && !(await fromFragment(begin, names))) say("The link is broken. This is an example instead.");
  showState();
  await loadExamples();
  try {
    views.test.offer((await get("agents")).agents);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  document.body.dataset.ready = "yes";
}

start();
