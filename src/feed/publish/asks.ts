/**
 * Questions of control to edges: published on the open streams, never stored, and answered by posts. An edge that
 * connects later gets those that are still open. With several controls, each passes questions on to its edges, and
 * answers back to the control that asked. docs/decisions/0643
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Db } from '#db/open.ts';
import type { Logger } from '#lib/logger.ts';
import { type Ask, MAX_ASK_BYTES, MAX_CONTROL_MESSAGE_BYTES } from '../wire/ask-messages.ts';
import { formatEvent } from '../wire/sse.ts';
import type { Peer } from './peer.ts';

/** Which edges are asked. */
export interface AskedEdges {
  /** Groups of edges on other machines; edges on control's machine are always meant. */
  readonly groups: readonly string[];
  /** Whether one edge of each control is enough. */
  readonly isOne: boolean;
}

export interface PostedAnswer {
  readonly edge: string;
  readonly content: unknown;
}

/** What an edge sends for as long as the question is open, and it has more. */
export interface UploadedAnswer {
  readonly edge: string;
  readonly body: Readable;
}

export interface OpenAsk extends Disposable {
  readonly id: string;
  /** Number of edges of this control that were asked. */
  readonly reached: number;
}

/** The open streams. */
export interface AskStreams {
  /** Sends the event to those streams that are meant. Returns their number. */
  sendTo(event: string, asked: AskedEdges): number;
}

interface Open {
  readonly ask: Ask;
  readonly asked: AskedEdges;
  readonly endsAt: number;
  /** Absent: another control asks. */
  readonly onAnswer: ((answer: PostedAnswer) => void) | undefined;
  /** Absent: it is not answered with an upload, or another control asks. */
  readonly onUpload: TakeUpload | undefined;
}

/** Returns false if the upload is not wanted. An upload that is taken has to be read, or destroyed. */
type TakeUpload = (upload: UploadedAnswer) => boolean;

/** Messages between controls. */
type Message =
  | { readonly kind: 'ask'; readonly ask: Ask; readonly asked: AskedEdges }
  | { readonly kind: 'end'; readonly id: string }
  | ({ readonly kind: 'answer'; readonly id: string } & PostedAnswer);

/** Questions that are open at once, those of other controls included. */
const MAX_OPEN = 200;

export class Asks implements Disposable {
  readonly #open = new Map<string, Open>();
  readonly #db: Pick<Db, 'onMessage' | 'tellControls'>;
  readonly #streams: AskStreams;
  readonly #monotonic: () => number;
  readonly #log: Logger;
  readonly #unsubscribe: () => void;

  constructor(options: {
    readonly db: Pick<Db, 'onMessage' | 'tellControls'>;
    readonly streams: AskStreams;
    readonly monotonic: () => number;
    readonly log: Logger;
  }) {
    this.#db = options.db;
    this.#streams = options.streams;
    this.#monotonic = options.monotonic;
    this.#log = options.log;
    this.#unsubscribe = this.#db.onMessage((text) => this.#take(JSON.parse(text)));
  }

  /**
   * Asks until `limitMs` have passed or the result is disposed. Returns `undefined` if too many questions are open.
   * `onAnswer` is called with what edges send, which is not to be trusted.
   */
  ask(
    { content, limitMs, asked }: { readonly content: unknown; readonly limitMs: number; readonly asked: AskedEdges },
    onAnswer: (answer: PostedAnswer) => void,
    onUpload?: TakeUpload,
  ): OpenAsk | undefined {
    this.#forgetEnded();
    if (this.#open.size >= MAX_OPEN) return undefined;
    const ask = { id: randomUUID(), limitMs, content };
    const text = JSON.stringify(ask);
    if (Buffer.byteLength(text) > MAX_ASK_BYTES) throw new RangeError(`a question of more than ${MAX_ASK_BYTES} bytes`);
    const reached = this.#begin(ask, asked, onAnswer, onUpload);
    this.#tell({ kind: 'ask', ask, asked });
    return {
      id: ask.id,
      reached,
      [Symbol.dispose]: () => {
        if (!this.#end(ask.id)) return;
        this.#tell({ kind: 'end', id: ask.id });
      },
    };
  }

  /** Takes a post of an edge. Answers to questions that are over, or that the edge was not asked, are dropped. */
  takeAnswer(id: string, answer: PostedAnswer, sender: Peer | undefined): void {
    const open = this.#open.get(id);
    if (open === undefined || (sender !== undefined && !open.asked.groups.includes(sender.group))) return;
    if (open.onAnswer !== undefined) open.onAnswer(answer);
    else this.#tell({ kind: 'answer', id, ...answer });
  }

  /** `unknown`: this control has no such question, or may not ask that edge. `unwanted`: it has one that is answered. */
  takeUpload(id: string, upload: UploadedAnswer, sender: Peer | undefined): 'taken' | 'unwanted' | 'unknown' {
    const open = this.#open.get(id);
    const isAsked = sender === undefined || open?.asked.groups.includes(sender.group) === true;
    if (open?.onUpload === undefined || !isAsked) return 'unknown';
    return open.onUpload(upload) ? 'taken' : 'unwanted';
  }

  /** The events for an edge whose stream has just been opened. */
  eventsFor(isMeant: (asked: AskedEdges) => boolean): readonly string[] {
    this.#forgetEnded();
    const now = this.#monotonic();
    return [...this.#open.values()]
      .filter(({ asked }) => !asked.isOne && isMeant(asked))
      .map(({ ask, endsAt }) => eventOf({ ...ask, limitMs: Math.ceil(endsAt - now) }));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #begin(ask: Ask, asked: AskedEdges, onAnswer?: Open['onAnswer'], onUpload?: Open['onUpload']): number {
    this.#open.set(ask.id, { ask, asked, endsAt: this.#monotonic() + ask.limitMs, onAnswer, onUpload });
    return this.#streams.sendTo(eventOf(ask), asked);
  }

  #end(id: string): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    this.#open.delete(id);
    if (!open.asked.isOne) this.#streams.sendTo(eventOf({ id, limitMs: 0, content: null }), open.asked);
    return true;
  }

  #forgetEnded(): void {
    const now = this.#monotonic();
    for (const [id, { endsAt }] of this.#open) if (endsAt <= now) this.#open.delete(id);
  }

  /** Other parts of control send messages of other kinds. */
  #take(message: Message): void {
    switch (message.kind) {
      case 'ask':
        this.#forgetEnded();
        if (this.#open.size < MAX_OPEN) this.#begin(message.ask, message.asked);
        return;
      case 'end':
        this.#end(message.id);
        return;
      case 'answer':
        this.#open.get(message.id)?.onAnswer?.({ edge: message.edge, content: message.content });
    }
  }

  #tell(message: Message): void {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > MAX_CONTROL_MESSAGE_BYTES) return; // none is: questions and answers are shorter
    this.#db.tellControls(text).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'cannot send a message to the other controls');
    });
  }
}

function eventOf(ask: Ask): string {
  return formatEvent({ name: 'ask', data: JSON.stringify(ask) });
}
