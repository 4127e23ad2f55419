/**
 * Encodes GB18030, which Node can only decode: the table is made with its decoder when it is first needed.
 * docs/decisions/0755
 */

/** Code unit of UTF-16 → its sequence, the octets as one number; 0: none. */
let table: Uint32Array | undefined;

const MAX_SEQUENCE_OCTETS = 4;

/** Returns `undefined` if the text has a character that cannot be encoded, such as an unpaired surrogate. */
export function encodeGb18030(text: string): Buffer | undefined {
  table ??= makeTable();
  const octets = Buffer.allocUnsafe(text.length * MAX_SEQUENCE_OCTETS);
  let end = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    const sequence = code < 0x80 ? code : code > 0xffff ? numbered(BEYOND_BMP + code - 0x10000) : (table[code] ?? 0);
    if (sequence === 0 && code !== 0) return undefined;
    end = octets.writeUIntBE(sequence, end, sequence < 0x80 ? 1 : sequence <= 0xffff ? 2 : MAX_SEQUENCE_OCTETS);
  }
  return octets.subarray(0, end);
}

/** Sequences of four octets are numbered; this many stand for the basic plane. */
const BMP_SEQUENCES = 39_420;
/** Number of the sequence of U+10000, after which all planes follow in order. */
const BEYOND_BMP = 189_000;

/** Returns the sequence of four octets with this number. */
function numbered(index: number): number {
  const [first, second] = [Math.floor(index / 12_600), Math.floor(index / 1_260) % 10];
  const [third, fourth] = [Math.floor(index / 10) % 126, index % 10];
  return (0x81 + first) * 2 ** 24 + ((0x30 + second) << 16) + ((0x81 + third) << 8) + 0x30 + fourth;
}

function makeTable(): Uint32Array {
  const sequences = new Uint32Array(0x10000);
  addSequences(
    sequences,
    4,
    Array.from({ length: BMP_SEQUENCES }, (_, index) => numbered(index)),
  );
  const two: number[] = [];
  for (let lead = 0x81; lead <= 0xfe; lead += 1)
    for (let trail = 0x40; trail <= 0xfe; trail += 1) if (trail !== 0x7f) two.push(lead * 0x100 + trail);
  // Where two sequences stand for one character, the shorter one counts.
  addSequences(sequences, 2, two);
  return sequences;
}

/** Decodes each sequence on a line by itself: one that is not assigned must not shift those after it. */
function addSequences(to: Uint32Array, width: number, sequences: readonly number[]): void {
  const lines = Buffer.alloc(sequences.length * (width + 1), '\n');
  for (const [n, sequence] of sequences.entries()) lines.writeUIntBE(sequence, n * (width + 1), width);
  const text = new TextDecoder('gb18030').decode(lines);
  let begin = 0;
  for (const sequence of sequences) {
    const end = text.indexOf('\n', begin);
    if (end - begin === 1 && text[begin] !== '\ufffd') to[text.charCodeAt(begin)] = sequence;
    begin = end + 1;
  }
}
