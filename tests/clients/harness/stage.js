import { after, afterEach, before, beforeEach } from "node:test";
import { Browser } from "./browser.js";
import { startThrong } from "./process.js";

/** One for all tests of a file, which is a process of its own. */
export let browser;
/** A new one for each test. */
export let throng;

/** Gives the tests of a file a browser, and each of them a server. Its pages are closed when it ends. */
export function setStage() {
  before(async () => { browser = await Browser.start(); });
  after(() => browser?.end());

  beforeEach(async () => { throng = await startThrong(); });
  afterEach(async () => {
    await browser.closePages();
    await throng?.end();
  });
}
