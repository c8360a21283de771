import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { answer } from "./answers.js";
import { clients, connect, newest, pollingClients } from "./clients.js";

/** What a server has without any configuration. */
export const COMMUNITY = "default";
export const LOBBY = `room:${COMMUNITY}/lobby`;

/** Each version of the client by WebSocket, and those that can by long-polling. */
export const ways = [
  ...clients.map((client) => ({ name: client.name, client, polls: false })),
  ...pollingClients.map((client) => ({ name: `${client.name} over long-polling`, client, polls: true })),
];

/** A device of somebody, in their community's lobby and on their own topic: `params` say who they are. */
export async function comeIn(t, throng, params, { client = newest, polls = false, options = {} } = {}) {
  const transport = polls ? { transport: client.LongPoll } : {};
  const { community = COMMUNITY } = params;
  const socket = connect(t, client, throng.socket, { params: { community, ...params }, ...transport, ...options });
  const room = await join(socket, `room:${community}/lobby`);
  const me = room.response.me;
  const person = await join(socket, `person:${community}/${me.id}`);
  return { socket, me, room: room.channel, lobby: room.response, person: person.channel, home: person.response };
}

export async function join(socket, topic, parameters = {}) {
  const channel = socket.channel(topic, parameters);
  const { status, response } = await answer(channel.join());
  assert.equal(status, "ok", `${topic}: ${JSON.stringify(response)}`);
  return { channel, response };
}

/** The answer to the first join of a connection of its own. */
export function firstJoin(t, throng, params, topic = LOBBY) {
  const socket = connect(t, newest, throng.socket, { params: { community: COMMUNITY, ...params } });
  return answer(socket.channel(topic).join());
}

/**
 * Insists that a join is refused with that code, and gives it up: the client would try again for ever, and each time leave
 * what has joined the topic meanwhile.
 */
export async function refusedJoin(socket, topic, code) {
  const channel = socket.channel(topic);
  isRefused(await answer(channel.join()), code, topic);
  channel.leave();
}

export async function ok(channel, event, payload = {}) {
  const { status, response } = await answer(channel.push(event, payload));
  assert.equal(status, "ok", `${event}: ${JSON.stringify(response)}`);
  return response;
}

export async function refused(channel, event, payload, code) {
  return isRefused(await answer(channel.push(event, payload)), code, event);
}

/** Insists that an answer is an error with that code, and returns it. */
export function isRefused({ status, response }, code, what) {
  assert.equal(status, "error", `${what}: ${JSON.stringify(response)}`);
  assert.equal(response.code, code);
  assert.equal(typeof response.message, "string");
  assert.equal(typeof response.details, "object");
  return response;
}

const SITE_SECRET = "a secret that only the site and the server know";

/** Lets a community believe the tokens of a host site. */
export async function trustSite(throng, community = COMMUNITY) {
  const purpose = { kind: "token", algorithm: "HS256", material: SITE_SECRET };
  await throng.operate("POST", `/communities/${community}/keys`, { name: "site", purpose });
}

/** A token as that site signs it; `jti` is one of its own. */
export function tokenOf(person, claims = {}) {
  return signedToken({ alg: "HS256" }, (text) => createHmac("sha256", SITE_SECRET).update(text).digest(), person, claims);
}

/** A token with that header, signed by `sign`. */
export function signedToken(header, sign, person, claims = {}) {
  const now = Math.floor(Date.now() / 1000);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const all = { sub: person, name: person, aud: COMMUNITY, iat: now, exp: now + 3600, ...claims };
  const signed = `${part({ typ: "JWT", ...header })}.${part(all)}`;
  return `${signed}.${sign(Buffer.from(signed)).toString("base64url")}`;
}
