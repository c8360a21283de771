import { render } from "preact";
import { LOBBY, roomAt } from "./room/address";
import { App } from "./ui/app";
import { takePlace } from "./ui/place-in-address";

const root = document.getElementById("app");
if (!root) throw new Error("index.html has no #app");
// Where the page is served without a room in its address, as by `npm run dev`, it is the one that every server has.
render(<App endpoint="/socket" address={roomAt(location.pathname) ?? LOBBY} seq={takePlace()} />, root);
