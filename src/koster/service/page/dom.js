// Creates elements without HTML, so that text always stays text.

/** Return an element; `how` has its properties, `on` in it its listeners. */
export function el(tag, how = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(how)) {
    if (value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === "class") {
      made.className = value;
    } else if (name in made && !name.startsWith("aria")) {
      made[name] = value;
    } else if (value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Return the element with an id. */
export const byId = (id) => document.getElementById(id);

/** Return text with invisible characters as escapes, because they can mislead. */
export function shown(text) {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
}

/** Return a number with its noun: "1 line", "2 lines". */
export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// Of the English of Great Britain, which has no comma before "and".
const AND = new Intl.ListFormat("en-GB");

/** Return crawlers in words, at most so many by name; `*` means those without a group of their own. */
export function crawlerNames(agents, most = 6) {
  const more = agents.length - most;
  const names = agents.slice(0, most).map((agent) => (agent === "*" ? "all other crawlers" : shown(agent)));
  return AND.format(more > 0 ? [...names, counted(more, "other")] : names);
}

/** Return a text with a capital first letter. */
export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Return a table from its column heads and rows of cells. */
export function table(caption, heads, rows) {
  const made = el("table", {},
    el("caption", { class: "unseen" }, caption),
    heads.length > 0 && el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows));
  // On narrow screens rows are displayed as blocks, which removes their implicit roles.
  made.setAttribute("role", "table");
  for (const [tag, role] of [["thead", "rowgroup"], ["tbody", "rowgroup"], ["tr", "row"], ["th[scope=col]", "columnheader"], ["th[scope=row]", "rowheader"], ["td", "cell"]]) {
    for (const each of made.querySelectorAll(tag)) each.setAttribute("role", role);
  }
  return el("div", { class: "wide" }, made);
}
