/**
 * What this page uses of the npm `phoenix` client, which brings no types of its own.
 * Whatever came over the wire is `unknown`: `wire.ts` turns it into something known.
 */
declare module "phoenix" {
  export type Transport = new (endpoint: string, protocols?: string[]) => object;

  export const LongPoll: Transport;

  export class Socket {
    constructor(endpoint: string, options?: { params?: () => object; longPollFallbackMs?: number });

    /** What the next connection uses; `LongPoll` once the client fell back. */
    readonly transport: Transport;
    /** Read at each connect: while it is a number, a failed WebSocket falls back to long-polling for good. */
    longPollFallbackMs: number | undefined;

    connect(): void;
    disconnect(callback?: () => void): void;
    /** A function is asked at each join. */
    channel(topic: string, params: object | (() => object)): Channel;
    onOpen(callback: () => void): string;
    /** With the browser's `CloseEvent`, or what the client makes up for long-polling. */
    onClose(callback: (event: unknown) => void): string;
  }

  export class Channel {
    join(): Push;
    leave(): Push;
    push(event: string, payload: object): Push;
    on(event: string, callback: (payload: unknown) => void): number;
    off(event: string, ref: number): void;
    onClose(callback: () => void): number;
    onError(callback: () => void): number;
  }

  export class Push {
    receive(status: "ok" | "error" | "timeout", callback: (response: unknown) => void): this;
  }
}
