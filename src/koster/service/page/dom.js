// Elements, made without HTML: whatever text there is, it stays text.

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

/** Return text with what cannot be seen spelt out: nobody is to be misled by it. */
export function shown(text) {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
}

/** Return a number with its noun: "1 line", "2 lines". */
export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return a table from its column heads and rows of cells. */
export function table(caption, heads, rows) {
  const made = el("table", {},
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows));
  // On a narrow screen rows are blocks, which takes their meaning from them where it is not said.
  made.setAttribute("role", "table");
  for (const [tag, role] of [["thead", "rowgroup"], ["tbody", "rowgroup"], ["tr", "row"], ["th[scope=col]", "columnheader"], ["th[scope=row]", "rowheader"], ["td", "cell"]]) {
    for (const each of made.querySelectorAll(tag)) each.setAttribute("role", role);
  }
  return el("div", { class: "wide" }, made);
}
