import { render } from "preact";
import { randomTabKey } from "./identity/tab-key";
import { App } from "./ui/app";

const root = document.getElementById("app");
if (!root) throw new Error("index.html has no #app");
render(<App endpoint="/socket" tabKey={randomTabKey()} />, root);
