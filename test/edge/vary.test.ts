/** Variants are told apart by what the origin was told, not by what the client sent. RFC 9111 §4.1 */
import { test } from 'node:test';
import { FRESH, reply } from '../support/edge/origin.ts';
import { client, gets, hit, origin, scenario } from '../support/edge/scenario.ts';

const varying = (field: string, body: string) => reply(body, { ...FRESH, vary: field });

test('a field that the edge overwrites has its new value in the variant: two addresses have two variants', (t) =>
  scenario(t, [
    client('GET /', { 'X-Forwarded-For': '6.6.6.6' }),
    origin('GET /', varying('X-Forwarded-For', 'for 1'), { 'x-forwarded-for': '127.0.0.1' }),
    gets(200, 'MISS', 'for 1'),
    hit('GET /'),
    client('GET /', {}, { from: '127.0.0.9' }),
    origin('GET /', varying('X-Forwarded-For', 'for 9'), { 'x-forwarded-for': '127.0.0.9' }),
    gets(200, 'MISS', 'for 9'),
    hit('GET /', 'for 1'),
  ]));

test('a field that is named in Connection counts as absent', (t) =>
  scenario(t, [
    client('GET /', { Origin: 'https://app.example', Connection: 'origin' }),
    origin('GET /', varying('Origin', 'without'), { origin: undefined }),
    gets(200, 'MISS', 'without'),
    client('GET /', { Origin: 'https://app.example' }),
    origin('GET /', varying('Origin', 'with'), { origin: 'https://app.example' }),
    gets(200, 'MISS', 'with'),
    hit('GET /', 'without'),
  ]));

test('a hop-by-hop field makes no variants', (t) =>
  scenario(t, [
    client('GET /', { TE: 'a' }),
    origin('GET /', varying('TE', 'x')),
    gets(200, 'MISS'),
    client('GET /', { TE: 'b' }),
    gets(200, 'HIT'),
  ]));
