import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { DEADLINE_MS } from "./deadline.js";

// The shell has no window at all, and takes less than half of the CPU that `chromium --headless` takes.
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const SCREENSHOTS = process.env.SCREENSHOTS;

/** Everything stands beside everything else. */
export const WIDE = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 760 }, deviceScaleFactor: 2, hasTouch: true };

/** Chromium without a window, with what its pages complained about and asked for. */
export class Browser {
  #chromium;
  /** Errors of the pages since `closePages`. */
  complaints = [];
  /** The addresses that pages asked for since `closePages`. */
  requests = [];

  constructor(instance) {
    this.#chromium = instance;
  }

  static async start(flags = []) {
    return new Browser(await chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...FLAGS, ...flags] }));
  }

  /** A page of its own, with a storage of its own; `prepare` sees it before it loads. */
  async open(url, options = {}, prepare = () => {}) {
    const context = await this.#chromium.newContext({ viewport: { width: 1100, height: 720 }, ...options });
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("request", (request) => this.requests.push(request.url()));
    await prepare(page);
    await page.goto(url);
    return page;
  }

  async closePages() {
    for (const context of this.#chromium.contexts()) await context.close();
    this.complaints = [];
    this.requests = [];
  }

  end() {
    return this.#chromium.close();
  }
}

/** A picture for people, where `SCREENSHOTS` names a folder for it. */
export async function picture(page, name, options = {}) {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), ...options });
}
