// An editor of plain text: line numbers, marks in the margin, a line that is shown.
// The text is a textarea's, so that keyboards and screen readers work as anywhere; its undo is ours,
// because a browser's own knows nothing of what buttons change.

import { el, shown } from "./dom.js";

const ROW = 20;
const SIGNS = { error: "✕", warning: "!", note: "i" };
const ORDER = ["error", "warning", "note"];
// Milliseconds within which letters are one step; steps, and characters of them, that are kept.
const STEP = 1000;
const STEPS = 200;
const KEPT = 20_000_000;

export class Editor {
  /** `explain` returns the elements of a mark's popover. */
  constructor(place, label, { changed, explain = null }) {
    this.place = place;
    this.explain = explain;
    this.marks = new Map();
    this.line = 0;
    this.rows = 1;
    this.changed = changed;
    this.history = new History();
    this.was = { text: "", caret: 0 };
    this.gutter = el("div", { class: "gutter" });
    this.back = el("div", { "aria-hidden": "true" });
    this.text = el("textarea", {
      "aria-label": label, spellcheck: false, autocapitalize: "none", wrap: "off",
      on: {
        input: (event) => {
          this.history.note(this.was.text, this.was.caret, event.inputType === "insertText" || event.inputType === "deleteContentBackward");
          this.closeExplanation();
          this.count();
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
    place.append(this.gutter, el("div", { class: "page" }, this.back, this.text));
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closeExplanation(true);
    });
    new ResizeObserver(() => this.draw()).observe(place);
  }

  get value() {
    return this.text.value;
  }

  /** A text in the place of the one before, to which undo leads back. */
  set value(text) {
    if (this.was.text) this.history.note(this.was.text, this.was.caret, false);
    this.put(text);
  }

  put(text, caret = 0) {
    this.text.value = text;
    this.text.setSelectionRange(caret, caret);
    this.line = 0;
    this.closeExplanation();
    this.count();
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

  count() {
    let rows = 1;
    for (let at = this.text.value.indexOf("\n"); at >= 0; at = this.text.value.indexOf("\n", at + 1)) rows += 1;
    this.rows = rows;
  }

  /** Mark lines: a map from a line's number to its findings. */
  mark(marks) {
    this.marks = marks;
    const open = this.popover && this.marks.get(this.popover.line);
    if (this.popover && !open) this.closeExplanation();
    this.draw();
  }

  /** Show a line; 0 shows none. */
  show(line, focus = false) {
    this.line = line;
    if (line) {
      const top = (line - 1) * ROW;
      const { scrollTop, clientHeight } = this.text;
      if (top < scrollTop || top + 2 * ROW > scrollTop + clientHeight) {
        this.text.scrollTop = Math.max(0, top - clientHeight / 3);
      }
      if (focus) {
        let start = 0;
        for (let number = 1; number < line; number += 1) {
          const end = this.text.value.indexOf("\n", start);
          if (end < 0) break;
          start = end + 1;
        }
        this.text.focus({ preventScroll: true });
        this.text.setSelectionRange(start, start);
      }
    }
    this.draw();
  }

  /** Draw what can be seen: of a long file most cannot. */
  draw() {
    const top = this.text.scrollTop;
    const first = Math.max(1, Math.floor(top / ROW) + 1);
    const last = Math.min(this.rows, first + Math.ceil(this.text.clientHeight / ROW) + 1);
    const focused = this.gutter.contains(document.activeElement) ? document.activeElement.dataset.line : null;
    const gutter = [];
    const back = [];
    const put = (made, line) => {
      made.style.top = `${(line - 1) * ROW - top}px`;
      return made;
    };
    for (let line = first; line <= last; line += 1) {
      const now = line === this.line;
      gutter.push(put(el("div", { class: now ? "now" : "", "aria-hidden": "true" }, String(line)), line));
      if (now) back.push(put(el("div", { class: "strip" }), line));
      const found = this.marks.get(line);
      if (!found) continue;
      const worst = ORDER.find((severity) => found.some((each) => each.severity === severity));
      if (!now) back.push(put(el("div", { class: `under ${worst}` }), line));
      const told = found.map((each) => `${each.severity} ${each.code}: ${each.message}`).join("; ");
      const mark = el("button", {
        type: "button", class: worst, title: shown(told), "aria-label": shown(`Line ${line}: ${told}`),
        "aria-expanded": String(this.popover?.line === line),
        on: { click: () => this.openExplanation(line) },
      }, SIGNS[worst]);
      mark.dataset.line = line;
      gutter.push(put(mark, line));
    }
    this.gutter.replaceChildren(...gutter);
    this.back.replaceChildren(...back);
    if (focused) this.gutter.querySelector(`button[data-line="${Number(focused)}"]`)?.focus({ preventScroll: true });
  }

  openExplanation(line) {
    const was = this.popover?.line;
    this.closeExplanation();
    if (!this.explain || was === line) return;
    const below = line * ROW - this.text.scrollTop;
    const popover = el("div", { class: "popover", role: "dialog", "aria-label": `Findings in line ${line}`, tabIndex: -1 },
      el("button", { type: "button", class: "close", "aria-label": "Close", on: { click: () => this.closeExplanation(true) } }, "✕"),
      this.explain(this.marks.get(line)));
    if (below < this.place.clientHeight * 0.55) popover.style.top = `${below + 4}px`;
    else popover.style.bottom = `${this.place.clientHeight - below + ROW + 4}px`;
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

/** What a text was: steps back and forth. Letters typed one after the other are one step. */
class History {
  constructor() {
    this.back = [];
    this.forth = [];
    this.since = 0;
  }

  /** Note a text, and where the caret was, before it becomes another. */
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

  /** Return what there was, given what there is. */
  step(from, to, text, caret) {
    const found = from.pop();
    if (found) to.push({ text, caret });
    this.since = 0;
    return found;
  }
}
