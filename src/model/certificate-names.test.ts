import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coversName, readNames } from './certificate-names.ts';

test('a name is covered by itself and by a wildcard one label above', () => {
  for (const [names, name, isCovered] of [
    [['www.example.com'], 'www.example.com', true],
    [['www.example.com'], 'example.com', false],
    [['*.example.com'], 'www.example.com', true],
    [['*.example.com'], 'xn--fiq228c.example.com', true],
    [['*.example.com'], 'a_b.example.com', true],
    [['*.example.com'], 'a.www.example.com', false],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], '*.example.com', true],
    [['*.example.com'], '*.www.example.com', false],
    [['*.www.example.com', '*.com'], '*.example.com', false],
    [['*.internal'], 'api.internal', false],
    [['*.com'], 'example.com', false],
    [['*.internal', 'api.internal'], 'api.internal', true],
    [['w*.example.com', '*', '*.*.com'], 'www.example.com', false],
    [['www.example.com.'], 'www.example.com', false],
    [[], 'www.example.com', false],
  ] as const) {
    assert.equal(coversName(names, name), isCovered, `${names} ${name}`);
  }
});

test('names are read from the DNS entries alone, in lower case and once each', () => {
  for (const [subjectAltName, expected] of [
    [undefined, []],
    ['DNS:WWW.Example.com, DNS:www.example.com, IP Address:192.0.2.1', ['www.example.com']],
    ['email:a@example.com, URI:http://b.example.com/, DNS:*.example.com', ['*.example.com']],
    // One odd name, which Node writes in quotes, holds no others.
    ['DNS:"a.example.com, DNS:b.example.com, DNS:c.example.com", DNS:d.example.com', ['d.example.com']],
    ['DNS:"a\\", DNS:b.example.com, DNS:\\"c", DNS:d.example.com', ['d.example.com']],
    ['othername:"DNS:a.example.com, DNS:b.example.com", DNS:c.example.com', ['c.example.com']],
  ] as const) {
    assert.deepEqual(readNames({ subjectAltName }), expected);
  }
});
