// The page: its parts, and what one tells the others.

import { get, Problem } from "./api.js";
import { AuditView } from "./audit.js";
import { CompareView } from "./compare.js";
import { DialectsView } from "./dialects.js";
import { byId, counted, el, shown } from "./dom.js";
import { Editor } from "./editor.js";
import { FindingsView } from "./findings.js";
import { fetched, showFetched } from "./site.js";
import { asFragment, fromFragment, state, TABS } from "./state.js";
import { TestView } from "./test.js";

const LINK_LIMIT = 1_900_000;
const KEPT_LIMIT = 30_000;

let keeping = 0;

/** Say something, with a button where there is something to be done about it. */
function say(text, does = null) {
  byId("message").replaceChildren(shown(text), ...(does ? [el("button", { type: "button", on: { click: does.run } }, does.name)] : []));
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
function replaceText(text, told) {
  editor.value = text;
  edited(editor.value);
  say(told, undo);
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
  // What a button would undo is no longer the last thing that was done: Ctrl+Z still goes back.
  byId("message").replaceChildren();
  facts();
  // What is looked at comes first.
  views[state.tab].ask();
  if (state.tab !== "findings") views.findings.ask();
  changed();
}

function facts() {
  const bytes = new Blob([state.robots]).size;
  const source = state.dialect === names[0] ? "" : ` · as in: ${views.dialects.sources.get(state.dialect)}`;
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
  compare: new CompareView(byId("panel-compare"), { ...common, loadOther: load }),
  dialects: new DialectsView(byId("panel-dialects"), common),
};

let loads = 0;

/** Fetch a site's file, show how it came, and give its text away: what was asked for last. */
async function load(site, current, take) {
  loads += 1;
  const number = loads;
  const before = current();
  if (!site.trim()) {
    say("Which site? Write its name, such as example.com.");
    return;
  }
  say(`Asking ${site} …`);
  try {
    const found = await fetched(site.trim(), state.dialect);
    if (number !== loads) return;
    byId("message").replaceChildren();
    showFetched(byId("fetched"), found);
    if (found.body === null && found.outcome !== "unavailable") {
      say(`${found.site} gave no file. The text here is still the one from before.`);
    } else if (current() !== before) {
      say(`Loaded ${found.url}. You wrote something meanwhile, which would go.`, { name: "Take it all the same", run: () => take(found.body ?? "", found) });
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
    replaceText(text, found.body === null ? `${found.site} has no file, which is as if it were empty.` : `Loaded ${found.url}.`);
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
    say("This is too long for a link: browsers take some two million characters.");
    return;
  }
  history.replaceState(null, "", `#${fragment}`);
  const long = fragment.length > KEPT_LIMIT ? " It is long: some programs cut such links." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    say(`The link is copied. It holds the file and the questions; no server keeps them.${long}`);
  } catch {
    say(`The link is in the address bar. It holds the file and the questions; no server keeps them.${long}`);
  }
});

function showState() {
  byId("dialect").value = state.dialect;
  if (editor.value !== state.robots) editor.value = state.robots;
  state.robots = editor.value;
  facts();
  views.test.load();
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
  if (begin && !(await fromFragment(begin, names))) say("The link is broken: here is an example instead.");
  showState();
  try {
    views.test.offer((await get("agents")).agents);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  document.body.dataset.ready = "yes";
}

start();
