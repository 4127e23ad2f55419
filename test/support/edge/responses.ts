/** Responses of origins as bytes: ordinary ones, then with something wrong in them. */
import fc from 'fast-check';
import { anyMutation, mutate } from './heads.ts';

const LINES = [
  ...Array<string>(8).fill('HTTP/1.1 200 OK'),
  ...['HTTP/1.1 204 No Content', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 404 Not Found', 'HTTP/1.1 999 Odd'],
  ...['HTTP/1.0 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 206 \xe9\tb', 'HTTP/1.1 101 Switching'],
  ...[
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/0.9 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1  200',
    '',
  ],
];
const FIELDS = [
  ...['Date: Sun, 06 Nov 1994 08:49:37 GMT', 'Server: nginx', 'ETag: "1"', 'Cache-Control: max-age=60', 'Vary: Accept'],
  ...['Content-Type: text/html; charset=utf-8', 'Set-Cookie: a=b', 'Connection: keep-alive', 'Connection: close'],
  ...['Keep-Alive: timeout=5', 'Keep-Alive: timeout=0', 'Trailer: x', 'Upgrade: h2c', 'Connection: upgrade, x', 'X-A:'],
  ...[
    'X: \t a \t ',
    'X : a',
    ' folded',
    '\tfolded',
    'no colon',
    ': no name',
    'X: \xff\x80',
    'X: a\x7f',
    'X(: a',
    '\xe9: a',
  ],
];
const LENGTHS = [
  '0',
  '3',
  '3',
  '5',
  '005',
  '+3',
  '-1',
  '0x3',
  '3 ',
  '3, 3',
  '3, 4',
  '',
  '9'.repeat(15),
  '9'.repeat(20),
];
const CODINGS = ['chunked', 'chunked', 'Chunked', 'gzip, chunked', 'chunked, gzip', 'identity', 'xchunked', 'gzip', ''];
const EXTENSIONS = ['', '', '', ';a', ';a=b', ';a="b;c"', ';a="\\""', '; a', ';', ';=b', ' ', ';a=\x01', ';a;b=c'];

const chunk = fc
  .tuple(fc.constantFrom('', 'a', 'abc', 'x'.repeat(20)), fc.constantFrom(...EXTENSIONS), fc.nat(20))
  .map(([data, extension, odd]) => {
    const size = odd === 0 ? data.length + 1 : data.length;
    return `${odd === 1 ? '0' : ''}${size.toString(16)}${extension}\r\n${data}\r\n`;
  });
const chunks = fc
  .tuple(
    fc.array(chunk, { maxLength: 3 }),
    fc.constantFrom('0\r\n\r\n', '0\r\n\r\n', '0\r\nA: b\r\n\r\n', '0;x\r\nA b\r\n\r\n', ''),
  )
  .map(([list, end]) => list.filter((text) => !text.startsWith('0\r')).join('') + end);
const plainBody = fc.constantFrom('', 'abc', 'abcde', '0\r\n\r\n');

const framing = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...LENGTHS).map((length) => [`Content-Length: ${length}`]) },
  { weight: 4, arbitrary: fc.constantFrom(...CODINGS).map((coding) => [`Transfer-Encoding: ${coding}`]) },
  { weight: 2, arbitrary: fc.constant<string[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...LENGTHS), fc.constantFrom(...LENGTHS))
      .map(([one, other]) => [`Content-Length: ${one}`, `content-length: ${other}`]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...LENGTHS), fc.constantFrom(...CODINGS))
      .map(([length, coding]) => [`content-length: ${length}`, `transfer-encoding: ${coding}`]),
  },
);

const interim = fc.constantFrom(
  ...['', '', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n'],
  'HTTP/1.1 102 P\r\nContent-Length: 3\r\n\r\n',
);

/** Lines that frame the body, and the body: mostly such as belong together. */
const framed = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant(['Transfer-Encoding: chunked']), chunks) },
  { weight: 2, arbitrary: fc.constant<[string[], string]>([['Content-Length: 3'], 'abc']) },
  { weight: 3, arbitrary: fc.tuple(framing, fc.oneof(chunks, plainBody)) },
);

const line = fc.oneof({ weight: 5, arbitrary: fc.constant('HTTP/1.1 200 OK') }, fc.constantFrom(...LINES));
const field = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...FIELDS.slice(0, 9)) }, fc.constantFrom(...FIELDS));

const response = fc
  .tuple(interim, line, fc.array(field, { maxLength: 6 }), framed)
  .map(
    ([before, first, fields, [lines, body]]) => `${before}${[first, ...fields, ...lines].join('\r\n')}\r\n\r\n${body}`,
  );

/** Responses of which about half have a few bytes that are not as they should be. */
export const anyResponse: fc.Arbitrary<Buffer> = fc
  .tuple(response, fc.oneof(fc.constant([]), fc.array(anyMutation, { maxLength: 2 })))
  .map(([text, mutations]) => Buffer.from(mutations.reduce(mutate, text), 'latin1'));
