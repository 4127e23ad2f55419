/** Requests of one bare connection that shortcuts answer: head and body go out at once, and the line is written when they are out. */
import type { Socket } from 'node:net';
import { hostOf } from '#http/request.ts';
import type { DirectWrite } from '#lib/node-internals/direct-write.ts';
import { Outlet } from '#lib/outlet.ts';
import type { EdgeContext } from '../../context.ts';
import { isMisdirected, type Secured } from '../../secured.ts';
import { isLetIn } from '../../shortcuts/access-memo.ts';
import { PreparedLines, type PreparedReply } from '../../shortcuts/prepared-lines.ts';
import type { Shortcut } from '../../shortcuts/shortcut.ts';
import { KEY_MARKS, type ShortcutKey } from '../../shortcuts/shortcut-key.ts';
import { WrittenHttp1 } from '../../shortcuts/written-http1.ts';
import type { StoredBody } from '../../store/store.ts';
import { HeadClient } from './head-client.ts';
import type { RequestHead } from './read-head.ts';

/** A connection whose requests all have the same client: not one of a trusted proxy. */
export interface PreparedConnection {
  readonly socket: Socket;
  /** What the system has of all that was written on it. */
  takenBytes(): number;
  readonly clientAddress: string;
  readonly isTls: boolean;
  readonly secured: Secured | undefined;
  readonly direct: DirectWrite | undefined;
  /** What each head says of the connection. */
  readonly keepAliveLines: string;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'writeHit' | 'metrics' | 'pins'>;

/** One that is not out yet. */
interface Reply extends PreparedReply {
  readonly answer: Shortcut;
  readonly written: WrittenHttp1;
  readonly held: StoredBody | undefined;
  /** Bytes given to the socket before this answer. */
  readonly givenBefore: number;
}

export class PreparedReplies {
  readonly #edge: PreparedContext;
  readonly #connection: PreparedConnection;
  readonly #client: HeadClient;
  readonly #outlet: Outlet;
  readonly #lines: PreparedLines;
  /** Answers under way, in order. */
  readonly #underWay: Reply[] = [];

  constructor(edge: PreparedContext, connection: PreparedConnection) {
    this.#edge = edge;
    this.#connection = connection;
    this.#client = new HeadClient(connection.clientAddress, edge.shortcuts);
    this.#outlet = new Outlet(connection.socket, connection.direct, this.#conclude);
    this.#lines = new PreparedLines(edge, '1.1');
  }

  /** `bytes` begin with the head. `givenBefore`: to the socket. Gives how much was written; 0: nothing has happened, the pipeline is to answer. */
  answer(bytes: Buffer, head: RequestHead, givenBefore: number): number {
    if (!isPlainGet(head)) return 0;
    const startedAt = this.#edge.clock();
    const shortcut = this.#find(bytes, head, startedAt);
    if (shortcut === undefined || !this.#mayHave(shortcut, bytes, head)) return 0;
    const written = shortcut.http1?.at(startedAt) ?? this.#write(shortcut, startedAt);
    shortcut.http1 = written;
    const loose = written.hasBody ? NO_BODY : shortcut.looseBody();
    if (loose === undefined) return 0;
    const sentBytes = written.headBytes + shortcut.bodyBytes;
    if (this.#outlet.send(written.bytes, loose.body)) {
      const { clientAddress } = this.#client;
      this.#lines.concludeOut(
        shortcut,
        written.logged,
        { clientAddress, startedAt, requestBytes: head.end, sentBytes },
        bytes,
        head,
      );
    } else {
      written.waiting += 1;
      const request = this.#client.describe(bytes, head);
      this.#underWay.push({
        answer: shortcut,
        written,
        held: loose.held,
        givenBefore,
        request,
        startedAt,
        requestBytes: head.end,
      });
    }
    return sentBytes;
  }

  /** Hosts are mostly spelt as sites are found by; others are so under another name. */
  #find(bytes: Buffer, head: RequestHead, now: number): Shortcut | undefined {
    const { shortcuts } = this.#edge;
    const { key } = shortcuts;
    const { isTls } = this.#connection;
    key.begin(isTls);
    key.add(bytes, head.hostStart, head.hostEnd);
    addRest(key, bytes, head);
    const found = bytes[head.hostEnd - 1] === DOT ? undefined : shortcuts.findByKey(now);
    if (found !== undefined) return found;
    const written = bytes.toString('latin1', head.hostStart, head.hostEnd);
    const host = hostOf(['host', written]);
    if (host === undefined || host === written) return undefined;
    key.begin(isTls);
    key.addText(host);
    addRest(key, bytes, head);
    return shortcuts.findByKey(now);
  }

  #write(shortcut: Shortcut, now: number): WrittenHttp1 {
    return new WrittenHttp1(shortcut, this.#connection.keepAliveLines, now);
  }

  #mayHave(shortcut: Shortcut, bytes: Buffer, head: RequestHead): boolean {
    const { secured } = this.#connection;
    if (secured !== undefined && isMisdirected(shortcut.site, shortcut.host, secured)) return false;
    return isLetIn(shortcut, this.#client, bytes, head);
  }

  /** The client has to be waited for, or cut by that; gives what ends it. */
  hold(connection: { cut(): void }): () => void {
    const held = this.#underWay.at(-1)?.held;
    return held === undefined ? NOTHING : this.#edge.pins.hold(held, connection);
  }

  /** We end the connection. */
  cut(): void {
    this.#lines.cut();
  }

  /** Concludes the oldest answer: it is out, or the connection is gone. */
  readonly #conclude = (error?: Error | null): void => {
    const reply = this.#underWay.shift();
    if (reply === undefined) return;
    const { written, answer } = reply;
    written.waiting -= 1;
    const isOut = error === undefined || error === null;
    const bytes = written.headBytes + answer.bodyBytes;
    const taken = Math.max(0, this.#connection.takenBytes() - reply.givenBefore);
    this.#lines.conclude(reply, written.logged, isOut ? bytes : Math.min(bytes, taken), isOut);
  };
}

/** Nothing in it but what a shortcut is found by counts for what is stored. */
export function isPlainGet(head: RequestHead): boolean {
  return head.isPlain && !head.isHead;
}

function addRest(key: ShortcutKey, bytes: Buffer, head: RequestHead): void {
  key.addMark(KEY_MARKS.target);
  key.add(bytes, head.targetStart, head.targetEnd);
  addField(key, KEY_MARKS.coding, bytes, head.acceptEncodingStart, head.acceptEncodingEnd);
  addField(key, KEY_MARKS.ifNoneMatch, bytes, head.ifNoneMatchStart, head.ifNoneMatchEnd);
  addField(key, KEY_MARKS.ifModifiedSince, bytes, head.ifModifiedSinceStart, head.ifModifiedSinceEnd);
}

/** Absent where start and end are the same. */
function addField(
  key: ShortcutKey,
  mark: Parameters<ShortcutKey['addMark']>[0],
  bytes: Buffer,
  start: number,
  end: number,
): void {
  if (start === end) return;
  key.addMark(mark);
  key.add(bytes, start, end);
}

const DOT = 0x2e;
const NOTHING = (): void => undefined;
const NO_BODY = { body: [], held: undefined } as const;
