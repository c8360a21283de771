import js from "@eslint/js";
import tseslint from "typescript-eslint";

// `protocol`, `room`, `identity/name` and `lab/model` are the part that a test, a worker or another page can use: no DOM there.
const domGlobals = ["window", "document", "navigator", "location", "localStorage", "sessionStorage", "history"];

export default tseslint.config(
  { ignores: ["dist/", "dist-lab/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/consistent-type-definitions": ["error", "type"],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    files: ["src/protocol/**", "src/room/**", "src/identity/name.ts", "src/lab/model/**"],
    rules: { "no-restricted-globals": ["error", ...domGlobals] },
  },
);
