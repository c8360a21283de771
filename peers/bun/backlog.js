// Bun asks for a backlog of 512, and has no setting for it. Asking again, on the same socket, raises it.

import { dlopen, FFIType } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENS = "0A"; // TCP_LISTEN, in the fourth column of /proc/net/tcp.

export function raiseBacklog(port, backlog) {
  const { symbols } = dlopen("libc.so.6", {
    listen: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  });
  if (symbols.listen(descriptorOf(port), backlog) !== 0) {
    throw new Error(`the backlog of port ${port} cannot be raised`);
  }
}

function descriptorOf(port) {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const listener = readFileSync("/proc/self/net/tcp", "latin1")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns[1]?.endsWith(suffix) && columns[3] === LISTENS);
  const target = `socket:[${listener?.[9]}]`;
  const descriptor = readdirSync("/proc/self/fd").find((name) => targetOf(name) === target);
  if (descriptor === undefined) throw new Error(`no descriptor listens on port ${port}`);
  return Number(descriptor);
}

// The descriptor with which the folder was read is listed, and gone.
function targetOf(descriptor) {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return null;
  }
}
