/** What the theme's script adds to pages, for keyboards and screen readers. */
"use strict";

{
  const improve = () => {
    // A copy button is no landmark of its own.
    for (const each of document.querySelectorAll("nav.md-code__nav:not([role])")) {
      each.setAttribute("role", "none");
    }
    // Each menu has a name of its own.
    document.querySelector(".md-nav--primary")?.setAttribute("aria-label", "Pages");
    document.querySelector(".md-path")?.setAttribute("aria-label", "Breadcrumbs");
    // Wide tables and code scroll: with the arrow keys, too.
    for (const each of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
      each.tabIndex = 0;
      each.setAttribute("role", "group");
      each.setAttribute("aria-label", "Table");
    }
  };
  improve();
  new MutationObserver(improve).observe(document.body, { childList: true, subtree: true });
}
