/**
 * Search from disk: browsers start no worker for a file:// page, so run its script in a hidden frame.
 */
"use strict";

if (location.protocol === "file:") {
  /** The part of Worker that the search uses. Messages are copies, and arrive later, as in a worker. */
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (message) => {
        const data = structuredClone(message);
        setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })));
      };
      const script = inside.document.createElement("script");
      this.started = new Promise((resolve) => { script.onload = resolve; });
      script.onerror = () => this.onerror?.(new ErrorEvent("error"));
      script.src = new URL(url, location).href;
      inside.document.body.append(script);
    }

    async postMessage(message) {
      const data = structuredClone(message);
      await this.started;
      setTimeout(() => this.frame.contentWindow?.onmessage(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
