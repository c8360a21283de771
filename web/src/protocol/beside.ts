import type { RoomEvent } from "./events";
import type { Profile } from "./person";
import { Talk } from "./talk";
import type { Wire } from "./wire";

export type BesideOptions = {
  readonly conversation: string;
  readonly wire: Wire;
  readonly me: Profile;
  /** Everything up to there was read. */
  readonly read: number;
  /** Who is met for the first time has no name yet. */
  readonly met: (person: string) => void;
  readonly emit: (event: RoomEvent) => void;
};

/** A direct conversation that is open beside the room, over the same connection. It tells the same events as a room. */
export class Beside {
  readonly conversation: string;
  readonly talk: Talk;
  readonly #options: BesideOptions;
  #left = false;

  constructor(options: BesideOptions) {
    const { conversation, wire, me, met } = options;
    this.conversation = conversation;
    this.#options = options;
    this.talk = new Talk(wire, { emit: (event) => { this.hear(event); }, met, isMe: (person) => person === me.person });
  }

  /** What concerns the connection or people's names is heard here as well. */
  hear(event: RoomEvent): void {
    if (!this.#left) this.#options.emit(event);
  }

  /** The own topic was joined, for the first time or again. */
  async stood(epoch: string): Promise<void> {
    if (this.#left) return;
    const { me, read } = this.#options;
    const fault = await this.talk.catchUp(epoch, (conversation) => {
      this.hear({ type: "joined", me, member: { role: "member", read } });
      this.hear({ type: "described", conversation });
    });
    if (fault !== undefined) this.hear({ type: "refused", fault });
  }

  /** Nothing is told any more. */
  leave(): void {
    this.#left = true;
    this.talk.leave();
  }
}
