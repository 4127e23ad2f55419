import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf, zoneLine } from './domain-names.ts';

test('names are read from a pasted list, each once', () => {
  const text = ' www.example.com\r\nimg.example.com, https://video.example.com/a?b\n\n*.例.example；www.example.com ';
  assert.deepEqual(namesOf(text), ['www.example.com', 'img.example.com', 'video.example.com', '*.例.example']);
  assert.deepEqual(namesOf(' \n, '), []);
});

test('the record of a domain is a line of a zone file', () => {
  assert.equal(zoneLine('www.example.com', 'a.cdn.example'), 'www.example.com. 600 IN CNAME a.cdn.example.');
});
