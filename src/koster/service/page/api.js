// Requests to the API.

/** An error that the service returned; `wait` is in seconds. */
export class Problem extends Error {
  constructor(detail, code, wait) {
    super(detail);
    this.code = code;
    this.wait = wait;
  }
}

async function answered(request) {
  let response;
  try {
    response = await fetch(request);
  } catch {
    throw new Problem("The service does not respond. Is it still running?", "offline", 2);
  }
  if (response.ok) return response.json();
  const wait = Number(response.headers.get("retry-after")) || 0;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // The response is not JSON: it may come from a proxy.
  }
  throw new Problem(told.detail || `The service returned status ${response.status}.`, told.code || "error", wait);
}

/** Send a POST request. */
export function ask(name, question) {
  return answered(new Request(`/v1/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question),
  }));
}

/** Send a GET request. */
export function get(name, query = {}) {
  return answered(new Request(`/v1/${name}?${new URLSearchParams(query)}`));
}

/** Runs one call at a time; calls in between become one call after it. */
export class Latest {
  constructor(run, delay = 0) {
    this.run = run;
    this.delay = delay;
    this.busy = false;
    this.again = false;
    this.timer = 0;
  }

  ask() {
    if (this.busy) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    if (this.delay) this.timer = setTimeout(() => this.now(), this.delay);
    else this.now();
  }

  async now() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.again = false;
    let wait = 0;
    try {
      await this.run();
    } catch (error) {
      wait = error instanceof Problem ? error.wait : 0;
      if (!(error instanceof Problem)) throw error;
    } finally {
      this.busy = false;
    }
    if (wait) this.timer = setTimeout(() => this.now(), wait * 1000);
    else if (this.again) this.ask();
  }
}
