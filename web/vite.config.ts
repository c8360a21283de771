import { defineConfig } from "vite";

const server = "http://127.0.0.1:4000";

export default defineConfig({
  build: {
    target: "es2022",
    // Every asset is a file of its own: the server's content security policy admits no inline script, style or image.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    // `npm run dev` serves the page; the channels come from a `throng serve` beside it. The origin is rewritten
    // because a mount admits pages of its own host only.
    proxy: { "/socket": { target: server, ws: true, changeOrigin: true, rewriteWsOrigin: true } },
  },
});
