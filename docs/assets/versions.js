/** The menu of versions: ../../versions.js lists those in the folder, also on a disk. */
"use strict";

{
  const list = document.createElement("script");
  const here = new URL(document.currentScript.src);
  list.src = new URL("../../versions.js", here).href;
  list.onload = () => {
    const version = new URL("..", here).pathname.split("/").at(-2);
    const menu = document.createElement("select");
    menu.className = "koster-versions";
    menu.setAttribute("aria-label", "Version");
    for (const name of window.kosterVersions) {
      menu.add(new Option(name, name, name === version, name === version));
    }
    menu.onchange = () => {
      location.href = new URL(`../../${menu.value}/index.html`, here).href;
    };
    document.querySelector(".md-header__title")?.after(menu);
  };
  document.head.append(list);
}
