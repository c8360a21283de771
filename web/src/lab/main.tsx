import { render } from "preact";
import { Dashboard } from "./ui/dashboard";

const root = document.getElementById("app");
if (!root) throw new Error("lab.html has no #app");
render(<Dashboard />, root);
