// A menu under a button, by the pattern "menu button" of the ARIA practices: arrows, Home, End, letters, Escape.

import { el } from "./dom.js";

export class Menu {
  constructor(button, list) {
    this.button = button;
    this.list = list;
    button.addEventListener("click", () => (this.isOpen ? this.close() : this.open(0)));
    button.addEventListener("keydown", (event) => {
      const at = { ArrowDown: 0, ArrowUp: -1 }[event.key];
      if (at === undefined) return;
      event.preventDefault();
      this.open(at);
    });
    list.addEventListener("keydown", (event) => this.move(event));
    // In Safari a click on a button would take the focus away, which closes the menu.
    for (const each of [button, list]) each.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("focusout", (event) => {
      if (event.relatedTarget !== button && !list.contains(event.relatedTarget)) this.close(false);
    });
  }

  get isOpen() {
    return !this.list.hidden;
  }

  get items() {
    return [...this.list.querySelectorAll("[role=menuitem]")];
  }

  /** Offer entries: each has a title and what choosing it runs. */
  offer(entries) {
    this.list.replaceChildren(...entries.map(({ title, name, run }) => el("li", { role: "none" },
      el("button", { type: "button", role: "menuitem", tabIndex: -1, on: { click: () => {
        this.close();
        run();
      } } }, title, name && [" ", el("code", { class: "soft" }, name)]))));
  }

  open(at) {
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.items.at(at)?.focus();
  }

  close(hasFocus = true) {
    if (!this.isOpen) return;
    if (hasFocus) this.button.focus();
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  move(event) {
    const { items } = this;
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape") {
      this.close();
    } else if (to !== undefined) {
      items.at(to % items.length).focus();
    } else if (/^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      after.find((each) => each.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}
