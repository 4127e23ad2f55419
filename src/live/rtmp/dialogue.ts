/**
 * Executes clients' commands and sends the responses that encoders, players and relays expect. "RTMP" 1.0, §7.2;
 * docs/decisions/0487
 */
import { inspect } from 'node:util';
import {
  type Command,
  connectResult,
  errorOf,
  onFc,
  onStatus,
  resultOf,
  sampleAccess,
  textArgument,
} from './commands.ts';
import type { PublishSink, RtmpConnection, RtmpHooks, RtmpPlayer, RtmpRequest } from './conversation.ts';
import { PLAY_STREAM_ID, SENT_CHUNK_BYTES } from './encoding.ts';
import type { ConnectionEnd } from './ends.ts';
import { controlMessage, type RtmpMessage, RtmpMessageError, setPeerBandwidth, userControl } from './messages.ts';
import type { Playback } from './playback.ts';
import { type ConnectFacts, readConnect, readRequest } from './request.ts';

/** The session, as its dialogue sees it. */
export interface Speaker extends RtmpConnection {
  readonly isClosed: boolean;
  readonly role: 'waiting' | 'deciding' | 'publishing' | 'playing';
  readonly playback: Playback | undefined;
  send(message: RtmpMessage): void;
  decide(): void;
  resume(): void;
  startPublishing(streamId: number, sink: PublishSink): void;
  startPlaying(streamId: number, player: RtmpPlayer): void;
  stop(): void;
  pausePlaying(isPaused: boolean): void;
  end(end: ConnectionEnd, detail: string, status?: { readonly code: string; readonly description: string }): void;
}

type Client = Pick<RtmpRequest, 'clientAddress' | 'isTls'>;

/** Acknowledgement window announced for both directions. §5.4.4 */
export const WINDOW_BYTES = 2_500_000;
/** Limit of a client's message streams. One of them publishes or plays. */
const MAX_STREAMS = 8;

export class Dialogue {
  readonly #speaker: Speaker;
  readonly #hooks: RtmpHooks;
  readonly #client: Client;
  #connect: ConnectFacts | undefined;
  readonly #streams = new Set<number>();
  #streamId = PLAY_STREAM_ID;

  constructor(speaker: Speaker, hooks: RtmpHooks, client: Client) {
    this.#speaker = speaker;
    this.#hooks = hooks;
    this.#client = client;
  }

  /** Message stream id of the last `publish` or `play`, for status messages about it. */
  get streamId(): number {
    return this.#streamId;
  }

  /** Executes a command. Throws `RtmpMessageError` if it is out of order. */
  take(command: Command): void {
    if (command.name === 'connect') return void this.#takeConnect(command);
    const connect = this.#connect;
    if (connect === undefined) throw new RtmpMessageError(`the command ${command.name.slice(0, 40)} before connect`);
    switch (command.name) {
      case 'createStream':
        return void this.#createStream(command);
      case 'publish':
        return void this.#publish(command, connect);
      case 'play':
        return void this.#play(command, connect);
      case 'releaseStream':
      case 'getStreamLength':
      case '_checkbw':
        return void this.#speaker.send(resultOf(command, null, command.name === 'getStreamLength' ? 0 : undefined));
      case 'FCPublish':
        this.#speaker.send(resultOf(command, null, undefined));
        return void this.#speaker.send(onFc('onFCPublish', 'NetStream.Publish.Start'));
      case 'FCSubscribe':
        return void this.#speaker.send(onFc('onFCSubscribe', 'NetStream.Play.Start'));
      case 'FCUnpublish':
        return void this.#unpublish(command);
      case 'closeStream':
        return void this.#closeStream();
      case 'deleteStream':
        return void this.#deleteStream(command);
      case 'pause':
      case 'pauseRaw':
        return void this.#pause(command);
      case 'receiveAudio':
        return void this.#receive('audio', command);
      case 'receiveVideo':
        return void this.#receive('video', command);
      default:
        return void this.#answerUnknown(command);
    }
  }

  #takeConnect(command: Command): void {
    if (this.#connect !== undefined) throw new RtmpMessageError('a second connect');
    const facts = readConnect(command.values[0]);
    if (facts.app === '') {
      this.#speaker.send(errorOf(command, 'NetConnection.Connect.InvalidApp', 'connect: app is missing'));
      return void this.#speaker.end('refused', 'connect names no app');
    }
    this.#connect = facts;
    this.#speaker.send(controlMessage('windowAcknowledgementSize', WINDOW_BYTES));
    this.#speaker.send(setPeerBandwidth(WINDOW_BYTES));
    this.#speaker.send(controlMessage('setChunkSize', SENT_CHUNK_BYTES));
    this.#speaker.send(connectResult(command, facts));
  }

  #createStream(command: Command): void {
    for (let id = PLAY_STREAM_ID; id < PLAY_STREAM_ID + MAX_STREAMS; id++) {
      if (this.#streams.has(id)) continue;
      this.#streams.add(id);
      return void this.#speaker.send(resultOf(command, null, id));
    }
    this.#speaker.send(errorOf(command, 'NetConnection.Call.Failed', `more than ${MAX_STREAMS} streams`));
  }

  #publish(command: Command, connect: ConnectFacts): void {
    const { streamId } = command;
    if (this.#speaker.role !== 'waiting')
      return void this.#refuseSecond(
        streamId,
        'NetStream.Publish.BadName',
        'this connection publishes or plays already',
      );
    this.#streamId = streamId;
    const request = readRequest(connect, textArgument(command), this.#client);
    this.#speaker.decide();
    this.#hooks
      .publish(request, this.#speaker)
      .then((answer) => {
        if (answer.kind === 'refused') return this.#speaker.end('refused', answer.reason, answer);
        if (this.#speaker.isClosed) return answer.sink.end({ kind: 'lost', detail: 'gone before it was accepted' });
        this.#speaker.startPublishing(streamId, answer.sink);
        this.#speaker.send(userControl('streamBegin', streamId));
        this.#speaker.send(onStatus(streamId, 'status', 'NetStream.Publish.Start', 'Publishing.'));
        this.#speaker.resume();
      })
      .catch((error: unknown) => this.#fail('NetStream.Publish.Denied', error));
  }

  #play(command: Command, connect: ConnectFacts): void {
    const { streamId } = command;
    if (this.#speaker.role !== 'waiting')
      return void this.#refuseSecond(streamId, 'NetStream.Play.Failed', 'this connection publishes or plays already');
    // All players get the same bytes, so all play on the same message stream id. docs/decisions/0487
    if (streamId !== PLAY_STREAM_ID)
      return void this.#refuseSecond(
        streamId,
        'NetStream.Play.Failed',
        `play: expects message stream ${PLAY_STREAM_ID}`,
      );
    this.#streamId = streamId;
    const request = readRequest(connect, textArgument(command), this.#client);
    this.#speaker.decide();
    this.#hooks
      .play(request, this.#speaker)
      .then((answer) => {
        if (answer.kind === 'refused') return this.#speaker.end('refused', answer.reason, answer);
        if (this.#speaker.isClosed) return undefined;
        this.#speaker.send(userControl('streamBegin', streamId));
        this.#speaker.send(onStatus(streamId, 'status', 'NetStream.Play.Reset', 'Playing.'));
        this.#speaker.send(onStatus(streamId, 'status', 'NetStream.Play.Start', 'Playing.'));
        this.#speaker.send(sampleAccess(streamId));
        this.#speaker.startPlaying(streamId, answer.player);
        this.#speaker.resume();
        return undefined;
      })
      .catch((error: unknown) => this.#fail('NetStream.Play.Failed', error));
  }

  #refuseSecond(streamId: number, code: string, description: string): void {
    this.#speaker.send(onStatus(streamId, 'error', code, description));
  }

  #fail(code: string, error: unknown): void {
    this.#speaker.end('failed', inspect(error), { code, description: 'The service failed.' });
  }

  #unpublish(command: Command): void {
    this.#speaker.send(resultOf(command, null, undefined));
    if (this.#speaker.role !== 'publishing') return;
    this.#speaker.send(onFc('onFCUnpublish', 'NetStream.Unpublish.Success'));
    this.#speaker.send(onStatus(this.#streamId, 'status', 'NetStream.Unpublish.Success', 'Not published any more.'));
    this.#speaker.stop();
  }

  #closeStream(): void {
    const { role } = this.#speaker;
    this.#speaker.stop();
    if (role === 'publishing')
      this.#speaker.send(onStatus(this.#streamId, 'status', 'NetStream.Unpublish.Success', 'Not published any more.'));
    if (role === 'playing')
      this.#speaker.send(onStatus(this.#streamId, 'status', 'NetStream.Play.Stop', 'Not playing any more.'));
  }

  #deleteStream(command: Command): void {
    const [, id] = command.values;
    if (typeof id === 'number') this.#streams.delete(id);
    // Some encoders send no stream id or a wrong one.
    this.#closeStream();
  }

  #pause({ values, streamId }: Command): void {
    if (this.#speaker.role !== 'playing') return;
    const isPaused = values[1] === true;
    this.#speaker.pausePlaying(isPaused);
    const code = isPaused ? 'NetStream.Pause.Notify' : 'NetStream.Unpause.Notify';
    this.#speaker.send(onStatus(streamId, 'status', code, isPaused ? 'Paused.' : 'Playing on.'));
  }

  #receive(track: 'audio' | 'video', { values }: Command): void {
    if (typeof values[1] === 'boolean') this.#speaker.playback?.choose(track, values[1]);
  }

  /**
   * Answers an unknown command with an error, unless it is itself a response or its transaction id is 0, which asks for
   * none.
   */
  #answerUnknown(command: Command): void {
    if (command.transaction === 0 || command.name === '_result' || command.name === '_error') return;
    this.#speaker.send(errorOf(command, 'NetConnection.Call.Failed', 'the command is not known'));
  }
}
