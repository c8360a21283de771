// Shows the OpenAPI document as a page. Everything from the document is put in as text, never as markup.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** An element with attributes and children; texts among the children are texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Text in which what stands between backticks is code. */
function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

class Reference {
  constructor(api) {
    this.api = api;
    this.operations = [];
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const method of METHODS.filter((one) => one in methods)) {
        this.operations.push({ path, method: method.toUpperCase(), ...methods[method] });
      }
    }
  }

  resolve(schema) {
    const name = schema?.$ref?.split("/").pop();
    return name ? { name, ...this.api.components.schemas[name] } : (schema ?? {});
  }

  /** A schema in a few words, such as `string, 1 to 40`. */
  words(schema) {
    if (schema?.$ref) return this.resolve(schema).name;
    const other = (schema?.anyOf ?? schema?.oneOf ?? []).filter((one) => one.type !== "null");
    if (other.length) return other.map((one) => this.words(one)).join(" or ");
    if (schema?.const !== undefined) return JSON.stringify(schema.const);
    if (schema?.enum) return schema.enum.map((one) => JSON.stringify(one)).join(", ");
    if (schema?.type === "array" || (Array.isArray(schema?.type) && schema.type.includes("array"))) {
      return `list of ${this.words(schema.items)}`;
    }
    const type = [schema?.type].flat().filter((one) => one && one !== "null").join(" or ") || "anything";
    const [min, max] = [schema?.minimum ?? schema?.minLength, schema?.maximum ?? schema?.maxLength];
    const bounds = max === undefined ? (min ? `, at least ${min}` : "") : `, ${min ?? 0} to ${max}`;
    return type + bounds;
  }

  fields(schema) {
    const whole = this.resolve(schema);
    const cases = whole.oneOf ?? whole.anyOf;
    if (cases?.length && !whole.properties) {
      return cases.filter((one) => one.type !== "null").map((one) => [
        one.description ? element("p", { class: "faint" }, prose(one.description)) : null,
        one.properties || one.$ref ? this.fields(one) : element("code", {}, this.words(one)),
      ]);
    }
    if (whole.allOf) return whole.allOf.map((one) => this.fields(one));
    if (!whole.properties) return [element("p", {}, element("code", {}, this.words(schema)))];
    return [this.table(Object.entries(whole.properties).map(([name, field]) => ({
      name, schema: field, required: whole.required?.includes(name),
      description: field.description ?? this.resolve(field).description ?? "",
    })))];
  }

  table(rows) {
    return element("table", {},
      element("thead", {}, element("tr", {}, ["Name", "Type", "Meaning"].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows.map((row) => element("tr", {},
        element("td", {}, element("code", {}, row.name), row.required ? element("span", { class: "needed" }, " required") : null),
        element("td", {}, this.nested(row.schema)),
        element("td", {}, prose(row.description ?? ""))))));
  }

  /** A field that is an object itself can be opened in place. */
  nested(schema) {
    const inner = schema?.items ?? (schema?.anyOf ?? []).find((one) => one.$ref) ?? schema;
    const whole = this.resolve(inner);
    if (!whole.properties && !whole.oneOf) return element("code", {}, this.words(schema));
    const details = element("details", {}, element("summary", {}, element("code", {}, this.words(schema))));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(...this.fields(inner).flat(9).filter(Boolean));
    }, { once: true });
    return details;
  }

  article(operation) {
    const parts = [element("p", {}, prose(operation.description))];
    for (const [place, title] of [["path", "Path parameters"], ["query", "Query parameters"], ["header", "Headers"]]) {
      const rows = operation.parameters.filter((one) => one.in === place).map((one) => ({
        ...one, description: one.description ?? this.resolve(one.schema).description,
      }));
      if (rows.length) parts.push(element("h4", {}, title), this.table(rows));
    }
    const body = operation.requestBody?.content?.["application/json"]?.schema;
    if (body) parts.push(element("h4", {}, "Body"), ...this.fields(body).flat(9).filter(Boolean));
    parts.push(element("h4", {}, "Responses"));
    for (const [status, answer] of Object.entries(operation.responses).filter(([status]) => status < "300")) {
      const [media, content] = Object.entries(answer.content ?? {})[0] ?? [];
      const summary = [element("code", {}, status), ` ${answer.description} `, media ? element("span", { class: "faint" }, media) : null];
      parts.push(content
        ? element("details", {}, element("summary", {}, summary), this.fields(content.schema).flat(9))
        : element("p", {}, summary));
    }
    parts.push(element("p", { class: "faint" }, "Errors: ", element("a", { href: "#problems" }, "problem documents"), "."));
    return element("article", { id: operation.operationId },
      element("header", {}, element("h3", {}, operation.summary),
        element("div", { class: "path" }, element("span", { class: `method ${operation.method}` }, operation.method), operation.path)),
      element("div", {}, parts));
  }

  main() {
    const { info, tags } = this.api;
    const codes = this.api["x-problem-codes"];
    return [
      element("h1", {}, `${info.title} ${info.version}`),
      element("p", {}, prose(info.description)),
      element("p", {}, prose(this.api.components.securitySchemes.bearer.description)),
      element("p", {}, "OpenAPI document: ", element("a", { href: "/api/v1/openapi.json" }, "/api/v1/openapi.json"), "."),
      ...tags.map((tag) => element("section", { "data-tag": tag.name },
        element("h2", {}, tag.name), element("p", {}, prose(tag.description)),
        this.operations.filter((one) => one.tags.includes(tag.name)).map((one) => this.article(one)))),
      element("section", { id: "problems" }, element("h2", {}, "Error codes"),
        element("p", {}, prose("Every error is `application/problem+json` (RFC 9457) with one of these values as `code`.")),
        element("table", {}, element("tbody", {}, codes.map((one) => element("tr", { id: one.code },
          element("td", {}, element("code", {}, one.code)), element("td", {}, String(one.status)),
          element("td", {}, prose(one.description))))))),
    ];
  }

  contents() {
    return this.api.tags.map((tag) => element("section", {}, element("h2", {}, tag.name),
      element("ul", {}, this.operations.filter((one) => one.tags.includes(tag.name)).map((one) =>
        element("li", { "data-words": `${one.summary} ${one.method} ${one.path}`.toLowerCase() },
          element("a", { href: `#${one.operationId}` }, one.summary))))));
  }
}

function filter(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll("nav li")) {
    item.hidden = !words.every((word) => item.dataset.words.includes(word));
  }
  for (const section of document.querySelectorAll("nav section")) {
    section.hidden = !section.querySelector("li:not([hidden])");
  }
}

async function begin() {
  const main = document.getElementById("main");
  try {
    const answer = await fetch("/api/v1/openapi.json");
    if (!answer.ok) throw new Error(`the response status is ${answer.status}`);
    const reference = new Reference(await answer.json());
    main.replaceChildren(...reference.main());
    document.getElementById("contents").replaceChildren(...reference.contents());
    document.getElementById("find").addEventListener("input", (event) => filter(event.target.value));
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (error) {
    document.getElementById("state").textContent = `The OpenAPI document cannot be loaded: ${error.message}. Reload the page to try again.`;
  }
}

begin();
