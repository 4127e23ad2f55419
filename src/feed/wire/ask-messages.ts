/** Questions and answers as control and edges send them to each other. */
import {
  type Members,
  MessageError,
  parseJson,
  readBoundedText,
  readCount,
  readEdge,
  readMembers,
} from './messages.ts';

/** A question as it travels. Its content is for the part of the edge that answers. */
export interface Ask {
  readonly id: string;
  /** Time from its arrival for which it is open, since clocks of edges may be wrong; 0: it is withdrawn. */
  readonly limitMs: number;
  readonly content: unknown;
}

/** The part of the edge that answers questions. */
export interface AskTaker {
  take(ask: Ask): void;
  /** The stream is lost: every question is over. */
  lose(): void;
}

/** POST: an answer to a question that came as the event `ask`: `{"edge":…,"id":…,"content":…}`. */
export const ANSWERS_PATH = '/edge/v1/answers';
/** Longest question, so that it fits into one message between controls. */
export const MAX_ASK_BYTES = 7000;
/** Longest answer of an edge, for the same reason. */
export const MAX_ANSWER_BYTES = 7000;
/** Longest message between controls. */
export const MAX_CONTROL_MESSAGE_BYTES = 7900;
/** POST with the query `edge=E&id=Q`: what answers a question for as long as it is open, such as a live stream. */
export const UPLOADS_PATH = '/edge/v1/uploads';
/** Longest request of an edge: an upload may last as long as what a session plays. */
export const MAX_UPLOAD_MS = 11 * 60_000;
const MAX_ID_CHARS = 64;
const MAX_LIMIT_MS = 3_600_000;

/** Parses the data of an event. Throws `MessageError`, like the next. */
export function parseAsk(text: string): Ask {
  const members = readMembers('ask', parseJson(text));
  return {
    id: readId(members),
    limitMs: readCount('limitMs', members['limitMs'], MAX_LIMIT_MS),
    content: members['content'],
  };
}

export function parseAnswer(text: string): { readonly edge: string; readonly id: string; readonly content: unknown } {
  const members = readMembers('answer', parseJson(text));
  if (members['content'] === undefined) throw new MessageError('content: missing');
  return { edge: readEdge(members['edge']), id: readId(members), content: members['content'] };
}

export function formatUploadPath(edge: string, id: string): string {
  return `${UPLOADS_PATH}?${new URLSearchParams({ edge, id })}`;
}

/** Parses the query of an upload. */
export function parseUploadQuery(query: string): { readonly edge: string; readonly id: string } {
  const members = Object.fromEntries(new URLSearchParams(query));
  return { edge: readEdge(members['edge']), id: readId(members) };
}

function readId(members: Members): string {
  return readBoundedText('id', members['id'], MAX_ID_CHARS);
}
