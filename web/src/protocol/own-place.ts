import type { Socket } from "phoenix";
import type { Answer } from "./ask";
import { Beside } from "./beside";
import type { Conversation } from "./conversation";
import type { RoomEvent } from "./events";
import { noAnswer, type Fault } from "./fault";
import { OwnTopic } from "./own-topic";
import type { Presence, Profile } from "./person";
import { Roll } from "./roll";
import type { Found, Question } from "./search";
import { peopleIn, type Keeping, type Tab, type TabChange, type TabsNext } from "./tab";

export type OwnPlaceOptions = {
  readonly socket: Socket;
  readonly community: string;
  readonly emit: (event: RoomEvent) => void;
  /** The id of the room, once it is joined: what concerns it alone is told of it alone. */
  readonly room: () => string | undefined;
};

/**
 * What one has beside the room, over the same socket: the own topic, once it is known who one is, the conversations that are
 * open there, and who is met in the room and who in private.
 */
export class OwnPlace {
  readonly #options: OwnPlaceOptions;
  readonly #roll = new Roll();
  #topic: OwnTopic | undefined;
  #me: Profile | undefined;
  /** The store's epoch, once the own topic is joined; `undefined` while it is not. */
  #epoch: string | undefined;
  /** How others see oneself, while the own topic is joined. */
  #here: Presence | undefined;
  /** What is open beside the room. */
  readonly #besides = new Set<Beside>();

  constructor(options: OwnPlaceOptions) {
    this.#options = options;
  }

  get person(): string | undefined {
    return this.#topic?.person;
  }

  /** It is known who one is. The own topic says that one is here. */
  be(me: Profile): void {
    this.#me = me;
    // Oneself is told of one's own presence, too: that alone is no place in the room.
    this.#roll.befriend([me.person]);
    if (this.#topic?.person === me.person) return;
    this.#topic?.leave();
    this.#epoch = undefined;
    this.#here = undefined;
    // What was open was the other person's.
    for (const beside of this.#besides) this.#end(beside);
    this.#topic = this.#join(me.person);
  }

  askName(person: string): void {
    this.#topic?.askName(person);
  }

  /** Somebody is in the room. */
  meet(person: string): void {
    this.#roll.meet(person);
  }

  /** Those who are in the room as it is joined. A member who is here is among them, whichever of both topics was first. */
  list(people: readonly Presence[], isMember: boolean): void {
    for (const { person } of people) {
      this.meet(person);
      this.askName(person);
    }
    if (isMember && this.person !== undefined) this.meet(this.person);
    const me = isMember ? this.#here : undefined;
    const isListed = me === undefined || me.status === "offline" || people.some(({ person }) => person === me.person);
    this.#options.emit({ type: "people_listed", people: isListed ? people : [...people, me] });
  }

  /** Somebody is in the room no more. */
  dismiss(person: string): void {
    this.#roll.dismiss(person);
    this.#options.emit({ type: "person_changed", presence: { person, status: "offline" } });
  }

  /** Somebody of the room came, went or is busy now. */
  seen(presence: Presence): void {
    if (presence.status !== "offline") this.askName(presence.person);
    this.#options.emit({ type: "person_changed", presence });
  }

  /** One's conversation with that person, in private; why there is none. */
  async direct(person: string): Promise<Conversation | Fault> {
    return (await this.#topic?.direct(person)) ?? noAnswer;
  }

  /** One page of what is found; why nothing is. Who wrote it is met, and the lines of its conversations are brought. */
  async search(question: Question): Promise<Found | Fault> {
    const topic = this.#topic;
    const found = (await topic?.search(question)) ?? noAnswer;
    if (!("hits" in found)) return found;
    for (const { message } of found.hits) topic?.askName(message.sender);
    for (const conversation of new Set(found.hits.map((hit) => hit.conversation))) {
      if (conversation !== this.#options.room()) topic?.tabs.find(conversation);
    }
    return found;
  }

  /** Opens a conversation that has no topic of its own, beside what is open already. */
  open(conversation: string, read: number, emit: (event: RoomEvent) => void): Beside | undefined {
    const [topic, me] = [this.#topic, this.#me];
    if (topic === undefined || me === undefined) return undefined;
    const met = (person: string): void => { topic.askName(person); };
    const beside = new Beside({ conversation, wire: topic.wireTo(conversation), me, read, met, emit });
    this.#besides.add(beside);
    if (this.#epoch !== undefined) void beside.stood(this.#epoch);
    return beside;
  }

  /** Nothing of it is told any more. */
  close(beside: Beside): void {
    this.#besides.delete(beside);
    beside.leave();
  }

  /** Brings more lines of the conversations tab. */
  moreTabs(before: TabsNext): void {
    void this.#topic?.tabs.more(before);
  }

  /** Mutes a conversation or puts it away, or takes that back, on all devices. Why it did not happen, if it did not. */
  async keep(line: Tab, keeping: Keeping): Promise<Fault | undefined> {
    return faultOf(await this.#topic?.tabs.keep(line, keeping));
  }

  /** Blocks somebody, or does so no more, on all devices. Why it did not happen, if it did not. */
  async block(person: string, on: boolean): Promise<Fault | undefined> {
    return faultOf(await this.#topic?.blocks.block(person, on));
  }

  /** Exchanges a guest's token for a newer one; `undefined` where there is none to be had. */
  async refresh(token: string): Promise<string | undefined> {
    return this.#topic?.refresh(token);
  }

  /** What concerns the connection or people's names concerns the room, and what is open beside it. */
  tellAll(event: RoomEvent): void {
    if (event.type === "closed") {
      this.#epoch = undefined;
      this.#here = undefined;
      for (const { talk } of this.#besides) talk.fallSilent();
    }
    this.#options.emit(event);
    for (const beside of this.#besides) beside.hear(event);
  }

  leave(): void {
    for (const beside of this.#besides) this.close(beside);
    this.#topic?.leave();
  }

  #join(person: string): OwnTopic {
    const { socket, community, emit, room } = this.#options;
    return new OwnTopic(socket, community, person, {
      named: (profile) => { this.tellAll({ type: "named", profile }); },
      muted: ({ conversation, on, until }) => {
        if (conversation === undefined || conversation === room()) emit({ type: "muted", on, until });
      },
      read: (conversation, seq) => {
        if (conversation === room()) emit({ type: "read", seq });
      },
      stood: ({ epoch, friends, me }) => {
        this.#epoch = epoch;
        this.#here = me;
        this.#roll.befriend(friends.map((friend) => friend.person));
        emit({ type: "friends_seen", people: friends, all: true });
        // The room's list may have been made just before, and told of before it could be heard.
        if (me !== undefined && this.#roll.has(person)) this.seen(me);
        for (const beside of this.#besides) void beside.stood(epoch);
      },
      refused: (fault) => { emit({ type: "own_refused", fault }); },
      seen: (presence) => {
        emit({ type: "friends_seen", people: [presence], all: false });
        if (presence.person === person) this.#here = presence;
        if (this.#roll.has(presence.person)) this.seen(presence);
      },
      tabs: (change) => { this.#tabs(change); },
      blocks: (change) => { emit({ type: "blocks_changed", change }); },
    });
  }

  #tabs(change: TabChange): void {
    const { friends, authors } = peopleIn(change);
    this.#roll.befriend(friends);
    for (const person of [...friends, ...authors]) this.askName(person);
    this.#options.emit({ type: "tabs_changed", change });
    if (change.kind !== "gone") return;
    for (const beside of this.#besides) {
      if (beside.conversation === change.conversation) this.#end(beside);
    }
  }

  /** One is not in it any more. */
  #end(beside: Beside): void {
    beside.hear({ type: "removed" });
    this.close(beside);
  }
}

/** Who is nobody yet gets no answer. */
function faultOf(answer: Answer | undefined): Fault | undefined {
  if (answer === undefined) return noAnswer;
  return answer.ok ? undefined : answer.fault;
}
