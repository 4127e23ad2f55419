/** Certificates by the thousand, in DER of our own: a program started for each would take minutes. P-256. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { CertificatePair } from '../../../src/sites/table.ts';

export interface QuickAuthority {
  /** PEM. */
  readonly ca: string;
  /** A certificate for this host, valid for a day unless said. */
  issue(host: string, validity?: Validity): CertificatePair;
}

/** Epoch milliseconds. */
interface Validity {
  readonly from: number;
  readonly to: number;
}

export function createQuickAuthority(): QuickAuthority {
  const name = 'quick authority';
  const { publicKey, privateKey } = newKeys();
  let serial = 1;
  return {
    ca: certify({ serial, issuer: name, subject: name, publicKey, extension: IS_AUTHORITY }, privateKey),
    issue: (host, validity) => {
      const keys = newKeys();
      serial += 1;
      const wanted = {
        serial,
        issuer: name,
        subject: 'x',
        publicKey: keys.publicKey,
        extension: namesHost(host),
        validity,
      };
      const key = String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
      return { certificate: certify(wanted, privateKey), key };
    },
  };
}

interface Wanted {
  readonly serial: number;
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extension: Buffer;
  readonly validity?: Validity | undefined;
}

/** RFC 5280 §4.1 */
function certify({ serial, issuer, subject, publicKey, extension, validity }: Wanted, by: KeyObject): string {
  const version3 = der(0xa0, der(INTEGER, Buffer.from([2])));
  const number = Buffer.alloc(5, 1);
  number.writeUInt32BE(serial, 1);
  const { from, to } = validity ?? { from: Date.now() - DAY_MS, to: Date.now() + DAY_MS };
  const body = der(
    SEQUENCE,
    version3,
    der(INTEGER, number),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    der(SEQUENCE, time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extension)),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, by));
  const whole = der(SEQUENCE, body, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = whole.replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

const DAY_MS = 24 * 3600 * 1000;
const [INTEGER, BIT_STRING, OCTET_STRING, OBJECT_ID, UTF8_STRING, UTC_TIME] = [2, 3, 4, 6, 12, 23] as const;
const [SEQUENCE, SET, TRUE] = [0x30, 0x31, Buffer.from('0101ff', 'hex')] as const;
const ECDSA_WITH_SHA256 = der(SEQUENCE, objectId('2a8648ce3d040302'));
/** RFC 5280 §4.2.1.9 */
const IS_AUTHORITY = der(SEQUENCE, objectId('551d13'), TRUE, der(OCTET_STRING, der(SEQUENCE, TRUE)));

/** RFC 5280 §4.2.1.6 */
function namesHost(host: string): Buffer {
  return der(SEQUENCE, objectId('551d11'), der(OCTET_STRING, der(SEQUENCE, der(0x82, Buffer.from(host)))));
}

function nameOf(text: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, objectId('550403'), der(UTF8_STRING, Buffer.from(text)))));
}

function objectId(hex: string): Buffer {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'));
}

function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/^\d\d|\D|\.\d+/g, '');
  return der(UTC_TIME, Buffer.from(`${text.slice(0, 12)}Z`));
}

/** ITU-T X.690 §8.1 */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
