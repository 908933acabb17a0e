// A browser without a window, controlled through a pipe: the part of the DevTools protocol that
// tests need.
import { spawn } from "node:child_process";

export class Browser {
  constructor(folder) {
    this.process = spawn(
      "chromium",
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        `--user-data-dir=${folder}`,
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--hide-scrollbars",
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: folder } },
    );
    this.waiting = new Map();
    this.next = 0;
    this.complaints = [];
    let rest = "";
    this.process.stdio[4].on("data", (bytes) => {
      const messages = (rest + bytes).split("\0");
      rest = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
  }

  receive(message) {
    if (message.id !== undefined) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
      return;
    }
    const { method, params } = message;
    if (method === "Runtime.consoleAPICalled")
      this.complaints.push(`console: ${params.args.map((one) => one.value ?? one.description).join(" ")}`);
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(
        `exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`,
      );
    if (method === "Log.entryAdded") this.complaints.push(`log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url))
      this.complaints.push(`request: ${params.request.url}`);
  }

  send(method, params = {}) {
    const id = ++this.next;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
  }

  /// Opens a page in a tab of its own and waits until it has drawn.
  async open(file, fragment = "", { width = 1400, height = 1000, dark = false, scale = 1 } = {}) {
    this.session = undefined;
    if (this.target) await this.send("Target.closeTarget", { targetId: this.target });
    this.target = (await this.send("Target.createTarget", { url: "about:blank" })).targetId;
    this.session = (
      await this.send("Target.attachToTarget", { targetId: this.target, flatten: true })
    ).sessionId;
    for (const domain of ["Runtime", "Log", "Page", "Network"]) await this.send(`${domain}.enable`);
    await this.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: scale,
      mobile: false,
    });
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    await this.send("Page.navigate", { url: `file://${file}#${fragment}` });
    await this.run(
      "new Promise((done) => { const look = () => document.documentElement?.dataset.ready !== undefined || document.documentElement?.dataset.error ? done() : setTimeout(look, 5); look(); })",
    );
  }
  /// The value of an expression in the page.
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  /// After the page has drawn what has changed.
  settle() {
    return this.run(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))",
    );
  }
  async press(...keys) {
    for (const name of keys) {
      const key = name.replace("Shift+", "");
      const modifiers = key === name ? 0 : 8;
      const text = key.length === 1 ? key : undefined;
      await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text, modifiers });
      await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers });
    }
    await this.settle();
  }
  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", {
      type,
      x,
      y,
      button: "left",
      buttons: type === "mouseReleased" ? 0 : 1,
      clickCount: 1,
      ...more,
    });
  }
  async click(x, y) {
    await this.mouse("mouseMoved", x, y, { button: "none", buttons: 0 });
    await this.mouse("mousePressed", x, y);
    await this.mouse("mouseReleased", x, y);
    await this.settle();
  }
  /// The middle of an element in the window, after it has been scrolled there.
  async middleOf(selector) {
    return this.run(
      `(() => { const found = document.querySelector(${JSON.stringify(selector)}); found.scrollIntoView({ block: "center" }); const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2, box.x, box.y, box.width, box.height]; })()`,
    );
  }
  /// A picture of the whole page, as PNG.
  async picture() {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true });
    return Buffer.from(data, "base64");
  }
  async close() {
    this.session = undefined;
    const ended = new Promise((done) => {
      this.process.on("exit", done);
    });
    await this.send("Browser.close").catch(() => {});
    await ended;
  }
}
