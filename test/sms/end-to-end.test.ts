/** One message's way through the whole service: first nowhere, then to a carrier and back, and to the customer's address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { startSmsc } from '../support/sms/smsc.ts';

const CONTENT = encodeURIComponent('您的验证码是 123456。😀'.repeat(6));

test(
  'a fresh service simulates and says so; with a carrier, messages arrive and customers are notified',
  needs('netSmpp'),
  async (t) => {
    const service = await startService(t, {
      settings: {
        CAUSEWAY_ROLES: 'control',
        CAUSEWAY_SMS_WEBHOOK_ALLOW: '127.0.0.0/8',
        CAUSEWAY_TOKEN_RATE_PER_SECOND: '1000',
      },
    });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const { app_key } = await client.call('smsOperator.createApp', { name: 'shop', balance: 100 });
    const send = (mobile: string) =>
      client.call('sms.ordinary', { app_key, mobile, content: CONTENT, time: String(Date.now()) });
    const statusOf = async (sendid: string) => (await client.call('sms.getStatus', { sendid })).numbers[0];
    const untilStatus = (sendid: string, status: string) =>
      eventually(`it is ${status}`, async () => (await statusOf(sendid))?.status === status);

    const nowhere = await send('13800138000');
    await untilStatus(nowhere.sendid, 'simulated');
    const parts = (await statusOf(nowhere.sendid))?.parts ?? [];
    assert.deepEqual(
      parts.map(({ status }) => status),
      ['simulated', 'simulated'],
    );
    await eventually('log and metrics say so', async () => {
      assert.match(service.process.stderr(), /"connector":"loopback".*messages do not reach phones/);
      const metrics = await (await fetch(service.metricsUrl)).text();
      assert.match(metrics, /causeway_sms_connector_up\{[^}]*kind="loopback"[^}]*\} 1/);
      assert.match(metrics, /causeway_sms_parts_total\{[^}]*outcome="simulated"[^}]*\} 2/);
      return true;
    });

    const told: Record<string, unknown>[] = [];
    const customer = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      told.push(JSON.parse(body));
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    t.after(() => customer.close());
    await once(customer, 'listening');
    const address = customer.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
    const closed = client.call('sms.setWebhook', { app_key, url: 'http://10.0.0.1/' });
    await assert.rejects(closed, { code: 'entryInvalid' });
    await client.call('sms.setWebhook', { app_key, url });

    const smsc = await startSmsc(t);
    const carrier = { host: '127.0.0.1', port: smsc.port, system_id: 'cw', password: 'secret' };
    await client.call('smsOperator.setConnector', { name: 'carrier', ...carrier });
    await client.call('smsOperator.setRoute', { prefix: '', connectors: ['carrier'] });
    const arrives = await send('13900139000');
    await untilStatus(arrives.sendid, 'delivered');
    await eventually('the carrier tells of both parts', () => smsc.submits().length === 2);
    await eventually('the customer has heard of both parts', () => told.length === 2);
    assert.deepEqual(
      told.map(({ event, sendid, mobile, state }) => [event, sendid, mobile, state]),
      [1, 2].map(() => ['receipt', arrives.sendid, '+8613900139000', 'delivered']),
    );

    await client.call('sms.advertising', { app_key, mobile: '13900139000', content: 'x', time: String(Date.now()) });
    smsc.order({ do: 'deliver', from: '8613900139000', to: '1069', text: Buffer.from('TD').toString('hex') });
    await eventually(
      'the number has opted out',
      async () => (await client.call('sms.getOptOuts', {})).list.length === 1,
    );
    await eventually('and the customer knows', () =>
      told.some(({ event, text }) => event === 'reply' && text === 'TD'),
    );
    const { sendid } = await client.call('sms.advertising', {
      ...{ app_key, mobile: '13900139000', content: 'y', time: String(Date.now()) },
    });
    assert.equal((await statusOf(sendid))?.status, 'rejected');
    assert.equal(await service.stop(), 0);
  },
);
