/**
 * Serves the console while it is being changed: `npm run console [URL of control]`. All other requests are passed on to a running
 * control.
 */
import { createServer } from 'vite';
import { BASE, VITE_OPTIONS } from './vite.ts';

const [, , control = 'http://127.0.0.1:8700'] = process.argv;
const server = await createServer({ ...VITE_OPTIONS, server: { proxy: { [`^/(?!${BASE.slice(1)})`]: control } } });
await server.listen();
server.printUrls();
