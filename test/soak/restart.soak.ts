/**
 * Ten restarts of the edge workers in a row, under load of every kind: wrk with kept and with new connections, clients of
 * HTTP/2 that obey GOAWAY, 100 downloads of half a minute and 100 WebSockets. No request may fail.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createAuthority } from '../support/certificates/certificate.ts';
import { connectRaw, type RawClient, SITE_HOST } from '../support/edge/edge.ts';
import { startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { accept, HANDSHAKE } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand, startService } from '../support/process/service.ts';
import { addDomain, untilInForce } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const RESTARTS = 10;
const LOAD_SECONDS = 100;
const DOWNLOADS = 100;
const WEB_SOCKETS = 100;
/** A download takes half a minute. */
const [PIECES, PIECE_BYTES, PIECE_MS] = [60, 4096, 500];
const CHAT_HOST = 'chat.example.com';

test('ten restarts lose no request of any kind', needs('wrk', 'openssl', { timeout: 900_000 }), async (t) => {
  const origin = await startOrigin(t, ({ target }, response) => {
    if (!target.startsWith('/slow')) {
      response.writeHead(200, { 'cache-control': 'max-age=3600', 'content-length': '1024' }).end('x'.repeat(1024));
      return;
    }
    response.writeHead(200, { 'content-length': String(PIECES * PIECE_BYTES), 'cache-control': 'no-store' });
    let left = PIECES;
    const timer = setInterval(() => {
      response.write('y'.repeat(PIECE_BYTES));
      if (--left > 0) return;
      clearInterval(timer);
      response.end();
    }, PIECE_MS);
    response.on('close', () => clearInterval(timer));
  });
  const chat = await startRawOrigin(t, (socket, head) => {
    socket.write(accept(head));
    socket.on('data', (bytes) => socket.write(bytes));
  });
  const { service, ca } = await start(t, origin.port, chat.port);
  const port = Number(new URL(service.edgeUrl).port);
  const httpsPort = Number(new URL(service.edgeHttpsUrl).port);

  const wrk = ['keep-alive', 'close'].map((connection) => runWrk(port, connection));
  const http2 = startHttp2Clients(httpsPort, ca);
  const webSockets = await Promise.all(Array.from({ length: WEB_SOCKETS }, () => openWebSocket(port)));
  const downloads = Array.from({ length: DOWNLOADS }, (_, index) => download(port, index));
  for (let n = 1; n <= RESTARTS; n++) {
    await delay(3_000);
    const { code, stderr } = await runCommand(
      t,
      ['restart', '--data-dir', service.dataDir, '--force'].slice(0, n > 3 ? 4 : 3),
    );
    assert.equal(code, 0, stderr);
    if (n === 2) {
      // Two generations carry them; the next restarts would have to cut them.
      for (const socket of webSockets) assert.equal(await echo(socket, `after ${n}`), true);
      assert.deepEqual(
        await Promise.all(downloads),
        Array.from({ length: DOWNLOADS }, () => PIECES * PIECE_BYTES),
      );
      for (const { socket } of webSockets) socket.destroy();
    }
  }
  const said = await Promise.all(wrk);
  for (const text of said) {
    t.diagnostic(text.replace(/\s+/g, ' '));
    assert.doesNotMatch(text, /Socket errors|Non-2xx/);
  }
  const { answered, refused, problems } = await http2.stop();
  t.diagnostic(`${answered} requests over HTTP/2; ${refused} were not sent`);
  assert.deepEqual(problems, []);
  assert.doesNotMatch(service.process.stderr(), /"level":"(error|fatal)"/);
});

async function start(t: TestContext, originPort: number, chatPort: number) {
  const authority = createAuthority(t);
  const service = await startService(t, {
    settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_EDGE_WORKERS: '2' },
  });
  const added = await addDomain(service, originPort, { domain: SITE_HOST });
  const { key, cert } = authority.issue([SITE_HOST]);
  const { ssl_key } = await added.client.call('certificate.add', {
    ssl_title: 'soak',
    certificate: cert,
    private_key: key,
  });
  await added.client.call('config.setSsl', { domain_id: added.domain_id, ssl_control: '1', ssl_key });
  await untilInForce(added);
  await addDomain(service, chatPort, { domain: CHAT_HOST });
  return { service, ca: authority.ca };
}

async function runWrk(port: number, connection: string): Promise<string> {
  const args = ['-t1', '-c40', `-d${LOAD_SECONDS}s`, '-H', `Host: ${SITE_HOST}`, '-H', `Connection: ${connection}`];
  const { stdout } = await promisify(execFile)(obtain('wrk'), [...args, `http://127.0.0.1:${port}/`]);
  return stdout;
}

/** Four clients, each of which opens another connection when the server says so, and waits for all its answers. */
function startHttp2Clients(port: number, ca: string) {
  const problems: string[] = [];
  let answered = 0;
  let refused = 0;
  let isStopping = false;
  const open = () => {
    const session = connectHttp2(`https://${SITE_HOST}`, {
      ca,
      servername: SITE_HOST,
      lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      port,
    });
    session.on('error', (error) => problems.push(error.message));
    return session;
  };
  const ask = async (session: ClientHttp2Session) => {
    const stream = session.request({ ':path': '/', ':authority': SITE_HOST });
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    let isRefused = false;
    stream.on('error', (error) => {
      // The client's own library refuses a request that it has not sent when it reads GOAWAY. RFC 9113 §8.7
      isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      if (!isRefused) problems.push(error.message);
    });
    await new Promise((resolve) => stream.once('close', resolve));
    if (bytes === 1024) answered++;
    else if (!isRefused) problems.push(`an answer has ${bytes} bytes`);
    else refused++;
  };
  const run = async () => {
    while (!isStopping) {
      const session = open();
      let isUsable = true;
      session.on('goaway', () => {
        isUsable = false;
      });
      session.on('close', () => {
        isUsable = false;
      });
      await once(session, 'connect');
      while (isUsable && !isStopping) await Promise.all(Array.from({ length: 10 }, () => ask(session)));
      session.close();
    }
  };
  const running = Promise.all(Array.from({ length: 4 }, run));
  return {
    stop: async () => {
      isStopping = true;
      await running;
      return { answered, refused, problems };
    },
  };
}

async function openWebSocket(port: number): Promise<RawClient> {
  const client = connectRaw(port, HANDSHAKE.replace(SITE_HOST, CHAT_HOST));
  await eventually('agreed', () => client.text().includes('101 Switching Protocols'));
  return client;
}

async function echo(client: RawClient, text: string): Promise<boolean> {
  client.socket.write(text);
  return await eventually('heard', () => client.text().endsWith(text));
}

/** Returns the bytes that arrived. */
async function download(port: number, index: number): Promise<number> {
  const request = get({ port, path: `/slow/${index}`, headers: { host: SITE_HOST }, agent: new Agent() });
  const [response] = await once(request, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return bytes;
}
