// An editor of plain text: line numbers, marks in the margin, colours, a line that is shown.
// The text is in a textarea, so that keyboards and screen readers work as usual. Undo is implemented here,
// because the browser's does not know what buttons change.

import { el, shown } from "./dom.js";
import { Layer } from "./layer.js";

const ROW = 20;
const SIGNS = { error: "✕", warning: "!", note: "·" };
const ORDER = ["error", "warning", "note"];
// Undo: letters within so many milliseconds are one step; maximum steps, and characters in them.
const STEP = 1000;
const STEPS = 200;
const KEPT = 20_000_000;

export class Editor {
  /** `explain` returns the elements of a mark's popover. */
  constructor(place, label, { changed, explain = null }) {
    this.place = place;
    this.explain = explain;
    this.marks = new Map();
    this.dimmed = new Set();
    this.line = 0;
    // Where each line starts.
    this.starts = [0];
    this.changed = changed;
    this.history = new History();
    this.was = { text: "", caret: 0 };
    this.gutter = el("div", { class: "gutter" });
    this.back = el("div", { "aria-hidden": "true" });
    this.layer = new Layer();
    this.text = el("textarea", {
      "aria-label": label, spellcheck: false, autocapitalize: "none", wrap: "off",
      on: {
        input: (event) => {
          this.history.note(this.was.text, this.was.caret, event.inputType === "insertText" || event.inputType === "deleteContentBackward");
          this.closeExplanation();
          const rows = this.rows;
          this.index();
          this.moveMarks(this.rows - rows);
          this.draw();
          this.remember();
          changed(this.text.value);
        },
        selectionchange: () => {
          this.was.caret = this.text.selectionStart;
        },
        beforeinput: (event) => {
          const step = { historyUndo: "undo", historyRedo: "redo" }[event.inputType];
          if (!step) return;
          event.preventDefault();
          this[step]();
        },
        keydown: (event) => {
          const key = (event.ctrlKey || event.metaKey) && !event.altKey ? event.key.toLowerCase() : "";
          if (key !== "z" && key !== "y") return;
          event.preventDefault();
          if (key === "y" || event.shiftKey) this.redo();
          else this.undo();
        },
        scroll: () => {
          this.closeExplanation();
          this.draw();
        },
      },
    });
    this.text.setAttribute("autocomplete", "off");
    place.append(this.gutter, el("div", { class: "page" }, this.back, this.layer.element, this.text));
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closeExplanation(true);
    });
    new ResizeObserver(() => this.draw()).observe(place);
  }

  get rows() {
    return this.starts.length;
  }

  get value() {
    return this.text.value;
  }

  /** Replace the text; undo restores the previous one. */
  set value(text) {
    if (this.was.text) this.history.note(this.was.text, this.was.caret, false);
    this.put(text);
  }

  put(text, caret = 0) {
    this.text.value = text;
    this.text.setSelectionRange(caret, caret);
    this.line = 0;
    this.closeExplanation();
    this.index();
    this.draw();
    this.remember();
  }

  remember() {
    this.was = { text: this.text.value, caret: this.text.selectionStart };
  }

  undo() {
    this.restore(this.history.step(this.history.back, this.history.forth, this.was.text, this.was.caret));
  }

  redo() {
    this.restore(this.history.step(this.history.forth, this.history.back, this.was.text, this.was.caret));
  }

  restore(found) {
    if (!found) return;
    this.put(found.text, found.caret);
    this.changed(this.text.value);
  }

  index() {
    const text = this.text.value;
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.starts = starts;
  }

  /** Return the text of a line, from 1. */
  textOf(line) {
    const end = line < this.rows ? this.starts[line] - 1 : this.text.value.length;
    return this.text.value.slice(this.starts[line - 1], end);
  }

  /** Return the number of the line at an offset. */
  lineAt(offset) {
    let low = 0;
    let high = this.rows;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** Move marks with their lines when lines are added or removed above the caret, until new findings come. */
  moveMarks(added) {
    if (!added) return;
    const caret = this.lineAt(this.text.selectionStart);
    const moved = (line) => (line > caret - added ? line + added : line);
    const isKept = (line) => added > 0 || line <= caret || line > caret - added;
    this.marks = new Map([...this.marks].filter(([line]) => isKept(line)).map(([line, found]) => [moved(line), found]));
    this.dimmed = new Set([...this.dimmed].filter(isKept).map(moved));
  }

  /** Mark lines: a map from a line's number to its findings, and the set of lines to dim. */
  mark(marks, dimmed) {
    this.marks = marks;
    this.dimmed = dimmed;
    const open = this.popover && this.marks.get(this.popover.line);
    if (this.popover && !open) this.closeExplanation();
    this.draw();
  }

  /** Show a line; 0 shows none. */
  show(line, focus = false) {
    this.line = line;
    if (line) {
      const row = this.layer.row || ROW;
      const top = (line - 1) * row;
      const { scrollTop, clientHeight } = this.text;
      if (top < scrollTop || top + 2 * row > scrollTop + clientHeight) {
        this.text.scrollTop = Math.max(0, top - clientHeight / 3);
      }
      if (focus) {
        const start = this.starts[line - 1] ?? 0;
        this.text.focus({ preventScroll: true });
        this.text.setSelectionRange(start, start);
      }
    }
    this.draw();
  }

  /** Draw the visible lines: a long file has many others. */
  draw() {
    const row = this.layer.row || ROW;
    const top = this.text.scrollTop;
    const first = Math.max(1, Math.floor(top / row) + 1);
    const last = Math.min(this.rows, first + Math.ceil(this.text.clientHeight / row) + 1);
    const focused = this.gutter.contains(document.activeElement) ? document.activeElement.dataset.line : null;
    const gutter = [];
    const back = [];
    const put = (made, line) => {
      made.style.top = `${(line - 1) * row - top}px`;
      return made;
    };
    const lines = [];
    for (let line = first; line <= last; line += 1) {
      const now = line === this.line;
      lines.push([line, this.textOf(line)]);
      gutter.push(put(el("div", { class: now ? "now" : "", "aria-hidden": "true" }, String(line)), line));
      if (now) back.push(put(el("div", { class: "strip" }), line));
      const found = this.marks.get(line);
      if (!found) continue;
      const worst = ORDER.find((severity) => found.some((each) => each.severity === severity));
      if (!now && worst !== "note") back.push(put(el("div", { class: `under ${worst}` }), line));
      const told = found.map((each) => `${each.severity} ${each.code}: ${each.message}`).join("; ");
      const mark = el("button", {
        type: "button", class: worst, title: shown(told), "aria-label": shown(`Line ${line}: ${told}`),
        "aria-expanded": String(this.popover?.line === line),
        on: { click: () => this.openExplanation(line) },
      }, SIGNS[worst]);
      mark.dataset.line = line;
      gutter.push(put(mark, line));
    }
    this.layer.draw(lines, this.dimmed, this.text);
    this.gutter.replaceChildren(...gutter);
    this.back.replaceChildren(...back);
    if (focused) this.gutter.querySelector(`button[data-line="${Number(focused)}"]`)?.focus({ preventScroll: true });
  }

  openExplanation(line) {
    const was = this.popover?.line;
    this.closeExplanation();
    if (!this.explain || was === line) return;
    const row = this.layer.row || ROW;
    const below = line * row - this.text.scrollTop;
    const popover = el("div", { class: "popover", role: "dialog", "aria-label": `Findings in line ${line}`, tabIndex: -1 },
      el("button", { type: "button", class: "close", "aria-label": "Close", on: { click: () => this.closeExplanation(true) } }, "✕"),
      this.explain(this.marks.get(line)));
    if (below < this.place.clientHeight * 0.55) popover.style.top = `${below + 4}px`;
    else popover.style.bottom = `${this.place.clientHeight - below + row + 4}px`;
    this.popover = { line, popover };
    this.place.append(popover);
    this.draw();
    popover.focus({ preventScroll: true });
  }

  closeExplanation(back = false) {
    if (!this.popover) return;
    const { line, popover } = this.popover;
    this.popover = null;
    popover.remove();
    this.draw();
    if (back) this.gutter.querySelector(`button[data-line="${line}"]`)?.focus({ preventScroll: true });
  }
}

/** Earlier and later versions of a text. Letters typed in a row are one step. */
class History {
  constructor() {
    this.back = [];
    this.forth = [];
    this.since = 0;
  }

  /** Save a text and the position of the caret before a change. */
  note(text, caret, isTyped) {
    const now = performance.now();
    const goesOn = isTyped && this.since && now - this.since < STEP;
    this.since = isTyped ? now : 0;
    this.forth = [];
    if (goesOn) return;
    this.back.push({ text, caret });
    let size = 0;
    let kept = 0;
    while (kept < this.back.length && kept < STEPS && size < KEPT) {
      kept += 1;
      size += this.back.at(-kept).text.length;
    }
    this.back = this.back.slice(-kept);
  }

  /** Return the version before or after the current one. */
  step(from, to, text, caret) {
    const found = from.pop();
    if (found) to.push({ text, caret });
    this.since = 0;
    return found;
  }
}
