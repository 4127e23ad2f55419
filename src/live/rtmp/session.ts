/**
 * One RTMP client's connection without its socket: bytes in and out, the deadlines, and the stream that it publishes or
 * plays. `dialogue.ts` interprets the client's commands; the hooks decide what a client may do.
 */
import { inspect } from 'node:util';
import type { Timers } from '#lib/timers.ts';
import { AmfError } from './amf0.ts';
import { ChunkError, ChunkReader, INITIAL_CHUNK_BYTES, LIMITS_AFTER, LIMITS_BEFORE } from './chunk-reader.ts';
import { writeMessage } from './chunk-writer.ts';
import { onStatus, readCommand } from './commands.ts';
import type { PublishSink, RtmpConnection, RtmpHooks, RtmpPlayer, RtmpStatus } from './conversation.ts';
import { Dialogue, WINDOW_BYTES } from './dialogue.ts';
import type { ConnectionEnd } from './ends.ts';
import type { RtmpLimits } from './limits.ts';
import {
  controlMessage,
  controlValue,
  MESSAGE_TYPE,
  plainData,
  type RtmpMessage,
  RtmpMessageError,
  splitAggregate,
  USER_EVENT,
  userControl,
} from './messages.ts';
import { Playback } from './playback.ts';
import { ServerHandshake } from './server-handshake.ts';

/** The socket, as the session sees it. */
export interface SessionOutput {
  readonly sentBytes: number;
  readonly queuedBytes: number;
  write(bytes: Buffer): void;
  /** Stops receiving until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection after the written bytes; resets it if it is still open after `withinMs`. Idempotent. */
  finish(withinMs: number): void;
  reset(): void;
}

/** Use of a connection; `waiting`: it neither publishes nor plays. */
export type RtmpRole = 'waiting' | 'publishing' | 'playing';

export interface RtmpSessionOptions {
  readonly client: { readonly clientAddress: string; readonly isTls: boolean };
  readonly hooks: RtmpHooks;
  readonly limits: RtmpLimits;
  readonly timers: Timers;
  readonly output: SessionOutput;
  readonly randomBytes: (size: number) => Buffer;
  /** Notified when the role changes. */
  onRole(role: RtmpRole): void;
  /** Notified once. `detail`: for the log. */
  onEnd(end: ConnectionEnd, detail: string): void;
}

type Role =
  | { readonly kind: 'waiting' }
  /** A hook is deciding; input waits. */
  | { readonly kind: 'deciding' }
  | { readonly kind: 'publishing'; readonly streamId: number; readonly sink: PublishSink; hasMedia: boolean }
  | { readonly kind: 'playing'; readonly streamId: number; readonly playback: Playback };

/** Smallest window that is honoured, so that acknowledgements stay a small share of the traffic. */
const MIN_WINDOW_BYTES = 4_096;
/** Chunk stream ids of control messages and of commands. */
const CONTROL_CHUNK_STREAM = 2;
const COMMAND_CHUNK_STREAM = 3;

export class RtmpSession implements RtmpConnection {
  readonly #options: RtmpSessionOptions;
  readonly #reader = new ChunkReader();
  readonly #dialogue: Dialogue;
  #handshake: ServerHandshake | undefined;
  #role: Role = { kind: 'waiting' };
  #isClosed = false;
  #receivedBytes = 0;
  #acknowledgedBytes = 0;
  #windowBytes = WINDOW_BYTES;
  #lastMessageAt = 0;
  /** The outgoing chunk size, as announced to the client. */
  #chunkBytes = INITIAL_CHUNK_BYTES;
  #cancelDeadline = () => {};

  constructor(options: RtmpSessionOptions) {
    this.#options = options;
    this.#handshake = new ServerHandshake(options.randomBytes);
    this.#dialogue = new Dialogue(this, options.hooks, options.client);
    this.#setDeadline(options.limits.handshakeMs, 'handshakeTimeout');
  }

  get clientAddress(): string {
    return this.#options.client.clientAddress;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get sentBytes(): number {
    return this.#options.output.sentBytes;
  }

  get queuedBytes(): number {
    return this.#options.output.queuedBytes;
  }

  get partialBytes(): number {
    return this.#reader.partialBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get role(): Role['kind'] {
    return this.#role.kind;
  }

  /** Takes received bytes; not called between `pause` and `resume` of the output. */
  receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    this.#receivedBytes += bytes.length;
    this.#guard(() => {
      const rest = this.#handshake === undefined ? bytes : this.#shakeHands(this.#handshake, bytes);
      if (rest === undefined) return;
      this.#reader.push(rest);
      this.#readMessages();
    });
  }

  /** Called when the client closed its side or the connection broke. */
  leave(detail: string): void {
    this.#end('clientLeft', detail);
    this.#options.output.finish(this.#options.limits.resetMs);
  }

  close(status?: RtmpStatus): void {
    this.end('closed', status?.description ?? 'ended by the service', status);
  }

  /** Ends the session like `close`, with a reason for the log. */
  end(end: ConnectionEnd, detail: string, status?: RtmpStatus): void {
    if (this.#isClosed) return;
    const { output, limits } = this.#options;
    const streamId = 'streamId' in this.#role ? this.#role.streamId : this.#dialogue.streamId;
    output.pause();
    this.#end(end, detail);
    if (status !== undefined)
      this.#write(onStatus(streamId, 'error', status.code, status.description), COMMAND_CHUNK_STREAM);
    output.finish(limits.resetMs);
  }

  /** Sends a response or a control message. */
  send(message: RtmpMessage): void {
    if (this.#isClosed) return;
    this.#write(message, message.type === MESSAGE_TYPE.command ? COMMAND_CHUNK_STREAM : CONTROL_CHUNK_STREAM);
    const { output, limits } = this.#options;
    const maxBytes = this.#role.kind === 'playing' ? limits.maxQueuedPlayBytes : limits.maxQueuedAnswerBytes;
    if (output.queuedBytes > maxBytes) this.end('unread', 'the client does not read its answers');
  }

  /** Stops reading until `resume`, while a hook decides. */
  decide(): void {
    this.#role = { kind: 'deciding' };
    this.#cancelDeadline();
    this.#options.output.pause();
  }

  startPublishing(streamId: number, sink: PublishSink): void {
    this.#role = { kind: 'publishing', streamId, sink, hasMedia: false };
    this.#reader.limits = LIMITS_AFTER;
    this.#options.onRole('publishing');
    this.#setDeadline(this.#options.limits.firstMediaMs, 'noMedia');
  }

  startPlaying(streamId: number, player: RtmpPlayer): void {
    const { output } = this.#options;
    const playback = new Playback(player, {
      write: (bytes) => {
        // The hub may still have the viewer attached.
        if (!this.#isClosed) output.write(bytes);
      },
      get queuedBytes() {
        return output.queuedBytes;
      },
      end: () => this.#endPlay(streamId),
      cut: () => this.#cut(),
    });
    this.#role = { kind: 'playing', streamId, playback };
    this.#options.onRole('playing');
    playback.start();
  }

  /** Continues reading after the command. */
  resume(): void {
    if (this.#isClosed) return;
    this.#options.output.resume();
    this.#guard(() => this.#readMessages());
  }

  /** Ends publishing or playing. The client may begin again. */
  stop(): void {
    const role = this.#role;
    if (role.kind !== 'publishing' && role.kind !== 'playing') return;
    this.#role = { kind: 'waiting' };
    this.#reader.limits = LIMITS_BEFORE;
    this.#setDeadline(this.#options.limits.commandMs, 'commandTimeout');
    if (role.kind === 'publishing') role.sink.end({ kind: 'unpublished' });
    else role.playback.end();
    this.#options.onRole('waiting');
  }

  /** The playback; `undefined` unless the connection plays. */
  get playback(): Playback | undefined {
    return this.#role.kind === 'playing' ? this.#role.playback : undefined;
  }

  /**
   * Pauses or resumes playback. A paused player is detached from its stream and not notified of its end, so a pause has
   * a deadline.
   */
  pausePlaying(isPaused: boolean): void {
    this.#cancelDeadline();
    if (isPaused) this.#setDeadline(this.#options.limits.pauseMs, 'commandTimeout');
    this.playback?.pause(isPaused);
  }

  /** Returns the bytes after the handshake; `undefined` if it is incomplete. */
  #shakeHands(handshake: ServerHandshake, bytes: Buffer): Buffer | undefined {
    const step = handshake.push(bytes);
    if (step.kind === 'foreign') {
      this.end('notRtmp', 'the first byte is not that of RTMP');
      return undefined;
    }
    if (step.answer !== undefined) this.#options.output.write(step.answer);
    if (step.kind === 'incomplete') return undefined;
    this.#handshake = undefined;
    this.#setDeadline(this.#options.limits.commandMs, 'commandTimeout');
    return step.rest;
  }

  #readMessages(): void {
    while (!this.#isClosed && this.#role.kind !== 'deciding') {
      const message = this.#reader.next();
      if (message === undefined) break;
      this.#take(message);
    }
    if (this.#receivedBytes - this.#acknowledgedBytes < this.#windowBytes) return;
    this.#acknowledgedBytes = this.#receivedBytes;
    this.send(controlMessage('acknowledgement', this.#receivedBytes));
  }

  #take(message: RtmpMessage): void {
    switch (message.type) {
      case MESSAGE_TYPE.audio:
      case MESSAGE_TYPE.video:
      case MESSAGE_TYPE.data:
      case MESSAGE_TYPE.dataAmf3:
        return void this.#takeMedia(message);
      case MESSAGE_TYPE.aggregate:
        for (const part of splitAggregate(message)) if (isMedia(part) && !this.#isClosed) this.#takeMedia(part);
        return;
      case MESSAGE_TYPE.command:
      case MESSAGE_TYPE.commandAmf3:
        return void this.#dialogue.take(readCommand(message));
      case MESSAGE_TYPE.userControl:
        return void this.#takeUserControl(message);
      case MESSAGE_TYPE.windowAcknowledgementSize:
        // Half the window, so that a client that waits for acknowledgements is not held up.
        this.#windowBytes = Math.max(MIN_WINDOW_BYTES, Math.min(controlValue(message), WINDOW_BYTES) >> 1);
        return;
      default: // acknowledgements, shared objects and unknown types
        return;
    }
  }

  #takeMedia(message: RtmpMessage): void {
    const role = this.#role;
    if (role.kind !== 'publishing') return;
    const kind = message.type === MESSAGE_TYPE.audio ? 'audio' : message.type === MESSAGE_TYPE.video ? 'video' : 'data';
    const data = kind === 'data' ? plainData(message) : message.payload;
    if (data === undefined || data.length === 0) return;
    this.#lastMessageAt = this.#options.timers.now();
    if (!role.hasMedia && kind !== 'data') {
      role.hasMedia = true;
      this.#watchSilence(this.#options.limits.silenceMs);
    }
    role.sink.take({ kind, timestampMs: message.timestamp, data });
  }

  #takeUserControl(message: RtmpMessage): void {
    if (message.payload.length < 2) throw new RtmpMessageError('a user control message is too short');
    if (message.payload.readUInt16BE(0) !== USER_EVENT.pingRequest) return;
    this.send(userControl('pingResponse', controlValue(message, 2)));
  }

  /** Ends a silent publisher, with one timer instead of one for each message. */
  #watchSilence(afterMs: number): void {
    this.#cancelDeadline();
    const { timers, limits } = this.#options;
    this.#cancelDeadline = timers.after(afterMs, () => {
      const remainingMs = this.#lastMessageAt + limits.silenceMs - timers.now();
      if (remainingMs > 0) this.#watchSilence(remainingMs);
      else this.end('silent', `nothing was sent for ${limits.silenceMs} ms`);
    });
  }

  #setDeadline(afterMs: number, end: ConnectionEnd): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#options.timers.after(afterMs, () => this.end(end, `not within ${afterMs} ms`));
  }

  #endPlay(streamId: number): void {
    this.send(userControl('streamEof', streamId));
    this.send(onStatus(streamId, 'status', 'NetStream.Play.UnpublishNotify', 'The stream is over.'));
    this.#end('closed', 'the stream is over');
    // The end of the stream is still queued, so the player gets more time. Reading goes on, or the client's own end of
    // the connection would not be noticed.
    this.#options.output.finish(this.#options.limits.drainMs);
  }

  #cut(): void {
    this.#end('closed', 'the player was cut');
    this.#options.output.reset();
  }

  #write(message: RtmpMessage, chunkStreamId: number): void {
    this.#options.output.write(writeMessage(message, chunkStreamId, this.#chunkBytes));
    if (message.type === MESSAGE_TYPE.setChunkSize) this.#chunkBytes = controlValue(message);
  }

  /** Limits the damage of malformed input and of a failing sink to this connection. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof ChunkError || error instanceof AmfError || error instanceof RtmpMessageError)
        this.end('malformed', error.message);
      else this.end('failed', inspect(error));
    }
  }

  #end(end: ConnectionEnd, detail: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelDeadline();
    const role = this.#role;
    this.#role = { kind: 'waiting' };
    if (role.kind === 'publishing')
      role.sink.end(end === 'noMedia' ? { kind: 'unpublished' } : { kind: 'lost', detail: `${end}: ${detail}` });
    if (role.kind === 'playing') role.playback.end();
    this.#options.onEnd(end, detail);
  }
}

function isMedia({ type }: RtmpMessage): boolean {
  return type === MESSAGE_TYPE.audio || type === MESSAGE_TYPE.video || type === MESSAGE_TYPE.data;
}
