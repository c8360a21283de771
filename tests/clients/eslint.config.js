import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  { languageOptions: { globals: globals.node }, rules: { eqeqeq: "error" } },
  // Parts of the browser's tests run inside the page.
  { files: ["browser.test.js", "delivery.test.js", "direct.test.js", "talk.test.js", "search.test.js", "keep.test.js", "look.test.js", "dashboard.test.js", "report.test.js", "harness/room-page.js", "harness/sight.js"], languageOptions: { globals: globals.browser } },
];
