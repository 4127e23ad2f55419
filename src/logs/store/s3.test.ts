/** The examples of Amazon's "Signature Calculations for the Authorization Header", with the signatures given there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type S3Request, signQuery, signRequest } from './s3.ts';

const PLACE = {
  credentials: { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
};
const NOW = Date.UTC(2013, 4, 24);
const HOST = 'https://examplebucket.s3.amazonaws.com';

const EXAMPLES: Readonly<Record<string, Partial<S3Request> & { path: string; signature: string }>> = {
  'get an object': {
    path: '/test.txt',
    headers: { range: 'bytes=0-9' },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  'put an object': {
    method: 'PUT',
    path: '/test%24file.text',
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    body: Buffer.from('Welcome to Amazon S3.'),
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  'a parameter without a value': {
    path: '/?lifecycle',
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  'parameters in their order': {
    path: '/?prefix=J&max-keys=2',
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
};

for (const [name, { path, signature, ...request }] of Object.entries(EXAMPLES)) {
  test(`a request is signed as in Amazon's example: ${name}`, async () => {
    const headers = await signRequest({ method: 'GET', ...request, url: new URL(HOST + path) }, PLACE, NOW);
    assert.equal(headers.get('authorization')?.split('Signature=')[1], signature);
  });
}

test("an address is signed as in Amazon's example of query parameters", async () => {
  const url = await signQuery({ method: 'GET', url: new URL(`${HOST}/test.txt`) }, PLACE, NOW, 86_400);
  assert.equal(
    url.searchParams.get('X-Amz-Signature'),
    'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
  assert.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'host');
});
