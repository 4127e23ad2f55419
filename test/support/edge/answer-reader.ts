/** Answers over HTTP/1.1 as their bytes come, for clients that send several requests on one connection. RFC 9112 §6.3 */

export interface ReadAnswer {
  /** Status line and fields, as they were written, without the line ends. */
  readonly head: readonly string[];
  readonly body: string;
  /** The bodies end as they promised. */
  readonly isWhole: boolean;
}

export class AnswerReader {
  /** Methods of the requests that have no final answer yet. */
  readonly #asked: string[] = [];
  #text = '';
  readonly answers: ReadAnswer[] = [];

  get isWaiting(): boolean {
    return this.#asked.length > 0;
  }

  expect(method: string): void {
    this.#asked.push(method);
  }

  /** Characters are bytes. */
  add(text: string): void {
    this.#text += text;
    while (this.#takeOne()) {}
  }

  /** Nothing more comes. What is here is of an answer that was cut, or that is ended so. */
  end(): void {
    if (this.#text !== '') this.answers.push({ head: [this.#text], body: '', isWhole: false });
    this.#text = '';
    this.#asked.length = 0;
  }

  #takeOne(): boolean {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = this.#text.slice(0, end).split('\r\n');
    const isInterim = /^HTTP\/1\.1 1\d\d/.test(head[0] ?? '');
    const read = readBody(this.#text, end + 4, head, isInterim ? 'HEAD' : this.#asked[0]);
    if (read === undefined) return false;
    this.answers.push({ head, body: read.body, isWhole: true });
    this.#text = this.#text.slice(read.end);
    if (!isInterim) this.#asked.shift();
    return true;
  }
}

interface ReadBody {
  readonly body: string;
  readonly end: number;
}

function readBody(
  text: string,
  from: number,
  head: readonly string[],
  method: string | undefined,
): ReadBody | undefined {
  const field = (name: string) =>
    head.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
  if (method === 'HEAD' || /^HTTP\/1\.1 (204|304)/.test(head[0] ?? '')) return { body: '', end: from };
  if (field('transfer-encoding') === 'chunked') return readChunks(text, from);
  const end = from + Number(field('content-length') ?? 0);
  return end > text.length ? undefined : { body: text.slice(from, end), end };
}

function readChunks(text: string, from: number): ReadBody | undefined {
  let body = '';
  for (let at = from; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (text.length < next) return undefined;
    if (size === 0) return { body, end: next };
    body += text.slice(lineEnd + 2, next - 2);
    at = next;
  }
}
