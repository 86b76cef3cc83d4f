import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { GuardedOutside } from '../../../src/adapters/webhooks/guarded-outside.ts';
import { ping } from '../../../src/notifications/domain/payload.ts';
import { until } from '../../support/until.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import { isRefused } from '../../support/http/raw-request.ts';
import { findFreePort } from '../../support/servers/debian-server.ts';
import { ended } from '../../support/servers/server-process.ts';
import { documentedPayload } from '../../support/webhooks/documented-payload.ts';

const page = readFileSync('docs/webhooks.md', 'utf8');
const shown = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? '';

const secrets = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
const outside = new GuardedOutside({
  dnsServers: ['127.0.0.1:9'],
  ownAddresses: [],
  rules: { allowsThisMachine: true },
  // Only a guard against hanging, not a measure.
  withinMs: 120_000,
});

const clock = new SystemClock();

describe.each([
  ['Node.js', 'js', process.execPath, ['--input-type=module', '--eval']],
  ['Python', 'python', 'python3', ['-c']],
])('The receiver of docs/webhooks.md in %s', (_, language, program, options) => {
  let receiver: ChildProcess;
  let url: string;
  const printed: string[] = [];
  beforeAll(async () => {
    const port = await findFreePort();
    const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secrets[0] };
    receiver = spawn(program, [...options, shown(language)], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    createInterface({ input: receiver.stdout! }).on('line', (line) => printed.push(line));
    await until('it listens', async () => !(await isRefused(port)));
    url = `http://127.0.0.1:${port}/`;
  });
  afterAll(() => {
    receiver.kill('SIGKILL');
    return ended(receiver);
  });

  const body = JSON.stringify(ping({ id: 'hook_é', accountId: 'account_1' }, clock.now()));
  const send = async (id: string, signedBy: readonly string[], at = clock.now(), sent = body) => {
    const signatures = signedBy.map((secret) => new Webhook(secret).sign(id, at, body));
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    };
    const outcome = await outside.post(url, { headers, body: sent });
    return outcome.kind === 'answered' ? outcome.status : outcome;
  };

  test('accepts each message once, even while the secret is rotated', async () => {
    expect(await send('m1', [secrets[0]!])).toBe(204);
    expect(await send('m1', [secrets[0]!])).toBe(204);
    expect(await send('m2', [secrets[1]!, secrets[0]!])).toBe(204);
    await until('it has worked', () => printed.length >= 2);
    const { type, data } = documentedPayload(body);
    expect(printed.map((line) => line.split(' ')[0])).toEqual([type, type]);
    expect(printed.map((line) => JSON.parse(line.slice(type.length)) as unknown)).toEqual([
      data,
      data,
    ]);
  });

  test('refuses a message that is forged, changed or old', async () => {
    const old = new Date(clock.now().getTime() - 10 * 60_000);
    expect(await send('m3', [secrets[1]!, secrets[2]!])).toBe(401);
    expect(await send('m3', [])).toBe(401);
    expect(await send('m3', [secrets[0]!], clock.now(), body.replace('hook_', 'hack_'))).toBe(401);
    expect(await send('m3', [secrets[0]!], old)).toBe(401);
    expect(await send('m4', [secrets[0]!])).toBe(204);
    await until('it has worked', () => printed.length >= 3);
    expect(printed).toHaveLength(3);
  });
});

test('Both example receivers are short', () => {
  const lines = (language: string) =>
    shown(language)
      .split('\n')
      .filter((line) => line.trim() !== '');
  expect(
    [lines('js').length, lines('python').length].every((count) => count >= 15 && count <= 26),
  ).toBe(true);
});
