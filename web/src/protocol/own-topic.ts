import type { Channel, Socket } from "phoenix";
import { ask, type Answer } from "./ask";
import { InTurn } from "./in-turn";
import { place, fields, text } from "./payload";
import { parseProfile, type Profile } from "./person";
import { parseMute, type Mute } from "./sanction";

/** Names asked at once; the server lets 24 questions of a topic wait. */
const ASKED_MAX = 8;
/** People whose names were asked for; the one longest ago is forgotten, and asked again when met again. */
const NAMED_MAX = 5000;

export type OwnNews = {
  readonly named: (profile: Profile) => void;
  readonly muted: (mute: Mute) => void;
  /** One's own cursor, moved by a device. */
  readonly read: (conversation: string, seq: number) => void;
};

/** A person's own topic, by which they are here, ask how others are called, and are told what concerns them. */
export class OwnTopic {
  readonly person: string;
  readonly #channel: Channel;
  readonly #news: OwnNews;
  readonly #asking = new InTurn(ASKED_MAX);
  readonly #named = new Set<string>();

  constructor(socket: Socket, community: string, person: string, news: OwnNews) {
    this.person = person;
    this.#news = news;
    this.#named.add(person);
    this.#channel = socket.channel(`person:${community}/${person}`, {});
    this.#channel.on("sanction", (payload) => {
      const mute = parseMute(payload);
      if (mute !== undefined) news.muted(mute);
    });
    this.#channel.on("cursors", (payload) => {
      const cursors = fields(payload);
      const [conversation, seq] = [text(cursors["conversation"]), place(cursors["read"])];
      if (conversation !== undefined && seq !== undefined) news.read(conversation, seq);
    });
    this.#channel.join();
  }

  /** Questions wait until the topic is joined. Who has gone for good has no name any more. */
  askName(person: string): void {
    if (this.#named.has(person) || person.startsWith("~")) return;
    const [oldest] = this.#named;
    if (this.#named.size >= NAMED_MAX && oldest !== undefined) this.#named.delete(oldest);
    this.#named.add(person);
    this.#asking.run(async () => {
      const answer = await this.#ask("profile", { person });
      const profile = answer.ok ? parseProfile(answer.response) : undefined;
      if (profile !== undefined) this.#news.named(profile);
      else if (!answer.ok && answer.fault.code !== "not_found") this.#named.delete(person);
    });
  }

  /** Exchanges a guest's token for a newer one; `undefined` where there is none to be had. */
  async refresh(token: string): Promise<string | undefined> {
    const answer = await this.#ask("token:refresh", { token });
    return answer.ok ? text(fields(answer.response)["token"]) : undefined;
  }

  leave(): void {
    this.#channel.leave();
  }

  #ask(event: string, payload: object): Promise<Answer> {
    return ask(this.#channel, event, payload);
  }
}
