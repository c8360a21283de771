import { defineConfig, type Plugin } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    outDir: "dist-lab",
    modulePreload: { polyfill: false },
    rolldownOptions: { input: "lab.html" },
  },
  plugins: [oneFile()],
  server: { proxy: { "/api": "http://127.0.0.1:8091" } },
});

/**
 * Puts script, style and icon into the page, which Stampede embeds as one file, and says in the page that nothing else may
 * run: a policy with the hashes of both (https://www.w3.org/TR/CSP3/).
 */
function oneFile(): Plugin {
  return {
    name: "one-file",
    apply: "build",
    enforce: "post",
    async generateBundle(_, bundle) {
      const page = bundle["lab.html"];
      if (page?.type !== "asset") throw new Error("no lab.html was built");
      let html = String(page.source);
      const script = { tag: /<script type="module"[^>]* src="\/([^"]+)"><\/script>/, text: "", hash: "" };
      const style = { tag: /<link rel="stylesheet"[^>]* href="\/([^"]+)">/, text: "", hash: "" };
      for (const part of [script, style]) {
        const name = part.tag.exec(html)?.[1];
        const file = name === undefined ? undefined : bundle[name];
        if (name === undefined || !file) throw new Error(`nothing in lab.html matches ${part.tag.source}`);
        part.text = file.type === "chunk" ? file.code : String(file.source);
        remove(bundle, name);
      }
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type !== "asset" || !name.endsWith(".svg")) continue;
        const image = `data:image/svg+xml;base64,${btoa(String(file.source))}`;
        html = html.replaceAll(`/${name}`, image);
        script.text = script.text.replaceAll(`/${name}`, image);
        remove(bundle, name);
      }
      for (const part of [script, style]) part.hash = await hash(part.text);
      if (Object.keys(bundle).length > 1) throw new Error(`not in the page: ${Object.keys(bundle).join(", ")}`);
      const policy =
        `default-src 'none'; script-src '${script.hash}'; style-src '${style.hash}'; img-src data:; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'none'";
      html = html.replace(script.tag, "").replace(style.tag, () => `<style>${style.text}</style>`);
      html = html.replace(/<meta charset="utf-8"[^>]*>/i, (meta) =>
        `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
      );
      page.source = html.replace("</body>", () => `<script type="module">${script.text}</script>\n  </body>`);
    },
  };
}

function remove(bundle: Record<string, unknown>, name: string): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- this is how a bundle loses a file
  delete bundle[name];
}

async function hash(text: string): Promise<string> {
  if (text.includes("</script") || text.includes("</style")) throw new Error("the text ends its own element");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}
