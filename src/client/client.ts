/** The typed client: any operation of the contract over HTTP, its answer checked. Runs in Node and in browsers. */
import { OPERATIONS } from '../contract/operations.ts';
import { type Client, createTransport, type TransportOptions } from './transport.ts';

export interface ClientOptions extends Omit<TransportOptions, 'isData'> {
  readonly accessToken: string;
}

export function createClient(options: ClientOptions): Client {
  return createTransport({
    ...options,
    isData: (name, data) => OPERATIONS[name].data.safeParse(data).success,
  });
}
