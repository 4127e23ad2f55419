/** A certificate as a customer has it, for tests that are not about certificates. */
import { createAuthority } from '../certificates/certificate.ts';
import type { Cleanup } from '../temporary.ts';
import type { TestApi } from './api.ts';
import { dataOf } from './customers.ts';

export interface AddedCertificate {
  readonly ssl_key: string;
  readonly private_key: string;
  readonly certificate: string;
}

/** Sets the test's clock to the real one, by which openssl makes it valid. */
export async function addTestCertificate(
  t: Cleanup,
  api: TestApi,
  accessToken: string,
  names: readonly string[],
): Promise<AddedCertificate> {
  api.now = Date.now();
  const { key: private_key, cert: certificate } = createAuthority(t).issue(names);
  const request = { ssl_title: 'a title', private_key, certificate };
  const { ssl_key } = dataOf(await api.call('certificate.add', accessToken, request));
  return { ssl_key: String(ssl_key), private_key, certificate };
}
