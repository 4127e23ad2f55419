/**
 * What an authority says of renewals (RFC 9773), put before one that says nothing of them, as Pebble of Debian does not. Its answers
 * are the examples of the RFC.
 */
import type { AskHttp, HttpAnswer } from '#acme/https.ts';

export interface RenewalScript {
  /** What certificates were called that it was asked about. */
  readonly asked: string[];
  /** Id of the certificate that each order replaces; `undefined` if it names none. */
  readonly replaced: (string | undefined)[];
  /** What it answers. */
  info: HttpAnswer;
  /** False: orders that replace a certificate are refused. */
  isReplacing: boolean;
  around(ask: AskHttp): AskHttp;
}

/** RFC 9773 §4.2; `start` and `end` are as `2025-01-02T04:00:00Z`. */
export function renewalInfo(start: string, end: string, retryAfter = '21600'): HttpAnswer {
  const body = { suggestedWindow: { start, end }, explanationURL: 'https://acme.example.com/docs/ari' };
  return answer(200, body, { 'retry-after': retryAfter });
}

export function refusal(status: number, type: string): HttpAnswer {
  return answer(status, { type: `urn:ietf:params:acme:error:${type}`, detail: 'so says the script' });
}

export function scriptRenewals(info: HttpAnswer): RenewalScript {
  const script: RenewalScript = {
    asked: [],
    replaced: [],
    info,
    isReplacing: true,
    around: (ask) => async (question, signal) => {
      const { url, method, body } = question;
      if (url.startsWith(RENEWAL_INFO)) {
        script.asked.push(url.slice(RENEWAL_INFO.length + 1));
        return script.info;
      }
      if (method === 'POST' && url.endsWith('/order-plz')) {
        const { replaces } = JSON.parse(Buffer.from(JSON.parse(body ?? '').payload, 'base64url').toString());
        script.replaced.push(replaces);
        if (replaces !== undefined && !script.isReplacing) return refusal(409, 'alreadyReplaced');
      }
      const said = await ask(question, signal);
      if (method !== 'GET' || !url.endsWith('/dir')) return said;
      return { ...said, body: JSON.stringify({ ...JSON.parse(said.body), renewalInfo: RENEWAL_INFO }) };
    },
  };
  return script;
}

const RENEWAL_INFO = 'https://acme.example.com/acme/renewal-info';

function answer(status: number, body: object, fields: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, header: (name) => fields[name], body: JSON.stringify(body) };
}
