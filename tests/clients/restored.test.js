// A backup that was made beside the running server, restored as docs/operations.md says.
import assert from "node:assert/strict";
import { copyFileSync, rmSync } from "node:fs";
import { join as path } from "node:path";
import { test } from "node:test";
import { connect, newest } from "./harness/clients.js";
import { COMMUNITY, comeIn, join, LOBBY, ok, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

test("a restored copy has what was said before it, and who was further learns that their place means nothing", async (t) => {
  const throng = await startThrong();
  t.after(() => throng.end());
  await trustSite(throng);
  const ann = await comeIn(t, throng, { token: tokenOf("ann") });
  for (const text of ["one", "two"]) await ok(ann.room, "msg:new", { text });
  const copy = path(throng.folder, "copy.sqlite3");
  throng.command("backup", copy);
  const { seq } = await ok(ann.room, "msg:new", { text: "after the copy" });
  ann.socket.disconnect();

  await throng.stop();
  const file = path(throng.folder, "messenger.sqlite3");
  for (const beside of ["-wal", "-shm"]) rmSync(`${file}${beside}`, { force: true });
  copyFileSync(copy, file);
  await throng.start();

  const socket = connect(t, newest, throng.socket, { params: { community: COMMUNITY, token: tokenOf("ann") } });
  const recover = { epoch: ann.lobby.epoch, seq };
  const back = await join(socket, LOBBY, { recover });
  assert.deepEqual([back.response.recovered, back.response.reason], [false, "epoch"]);
  assert.deepEqual(back.response.messages.map(({ text }) => text), ["one", "two"]);
  const again = await ok(back.channel, "msg:new", { text: "three" });
  assert.equal(again.seq, seq, "the place is given anew, under another epoch");
});
