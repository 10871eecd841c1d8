// The text of an editor in colours: it lies under the textarea, whose own text is transparent.

import { el } from "./dom.js";
import { parts } from "./lines.js";

export class Layer {
  constructor() {
    this.shown = new Map();
    this.probe = el("div", { class: "probe" }, "x");
    this.space = el("div");
    this.element = el("div", { class: "layer", "aria-hidden": "true" }, this.probe, this.space);
  }

  /** The height of a row as the browser lays it out: zoom rounds it, which adds up in long files. */
  get row() {
    return this.probe.getBoundingClientRect().height;
  }

  /** Show lines, which are pairs of a number and a text; lines that are shown already stay as they are. */
  draw(lines, dimmed, { scrollTop, scrollLeft, clientWidth, clientHeight }) {
    const { row } = this;
    const shown = new Map();
    for (const [number, text] of lines) {
      const isDimmed = dimmed.has(number);
      let line = this.shown.get(number);
      if (!line || line.text !== text || line.isDimmed !== isDimmed) {
        line?.made.remove();
        line = { text, isDimmed, made: made(text, isDimmed) };
        this.element.append(line.made);
      }
      line.made.style.top = `${(number - 1) * row}px`;
      shown.set(number, line);
      this.shown.delete(number);
    }
    for (const line of this.shown.values()) line.made.remove();
    this.shown = shown;
    // It scrolls as the textarea does, so that browsers round both alike.
    Object.assign(this.element.style, { width: `${clientWidth}px`, height: `${clientHeight}px` });
    Object.assign(this.space.style, { width: `${scrollLeft + 2 * clientWidth}px`, height: `${scrollTop + 2 * clientHeight}px` });
    this.element.scrollTo({ top: scrollTop, left: scrollLeft, behavior: "instant" });
  }
}

function made(text, isDimmed) {
  return el("div", { class: isDimmed ? "dimmed" : "" }, parts(text).map(([kind, part]) => (kind === "space" ? part : el("span", { class: kind }, part))));
}
