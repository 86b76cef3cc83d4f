import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { printedLink } from '../support/dashboard/visitor.ts';
import { newHome, printedKey, type Home } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

describe('animal-store serve', () => {
  let home: Home;
  beforeEach(async () => {
    home = await newHome('sqlite');
  });
  afterEach(() => home.remove());

  test('writes a line of JSON for each request, and no secret in any of them', async () => {
    const secretKey = 'a very secret key of more than 32 characters';
    const settings = { LOG_LEVEL: 'trace', SECRET_KEY: secretKey };
    const service = await home.start(settings);
    const key = printedKey(service);
    const link = printedLink(service);
    const banner = service.stdout().length;
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const answers = await Promise.all([
      fetch(`${service.origin}/v1/pets`, { headers }),
      fetch(`${service.origin}/v1/pets?api_key=${key}`),
      fetch(`${service.origin}/v1/pets`, { method: 'POST', headers, body: `{"name":"${key}"}` }),
      fetch(`${service.origin}/v1/pets?limit=${key}`, { headers }),
      fetch(`${service.origin}/v1/pets?cursor=${key}`, { headers }),
      fetch(`${service.origin}/v1/nope`, { headers: { Cookie: key } }),
      fetch(`${service.origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}x` } }),
    ]);
    expect((await fetch(service.origin + link, { redirect: 'manual' })).status).toBe(303);
    const { stdout: made } = await home.run([
      'account',
      'create',
      '--name',
      'Zoo',
      '--email',
      'a@b.example',
    ]);
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const logged = service.stdout().slice(banner) + service.stderr();
    const lines = logged.split('\n').filter((line) => line !== '');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { status, headers: sent } of answers) {
      const requestId = sent.get('X-Request-Id');
      expect(entries.filter((entry) => entry['requestId'] === requestId)).toMatchObject([
        { method: expect.any(String), path: expect.stringMatching(/^\/v1\//), status },
      ]);
    }
    const [ofOther = ''] = /pets_live_\w{38}/.exec(made) ?? [];
    const linkSecret = link.split('/').at(-1) ?? '';
    for (const secret of [key, ofOther, key.slice(10), secretKey, linkSecret]) {
      expect(secret.length).toBeGreaterThan(20);
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
  });
});

test('a start without Redis and the object store warns of both', async () => {
  const home = await newHome('sqlite');
  const service = await home.start({
    REDIS_URL: 'redis://127.0.0.1:1',
    DEPLOYS_URL: 's3://zoo-deploys/live',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  for (const what of ['Redis', 'the object store']) {
    const warning = new RegExp(`^\\{"level":40.*"msg":"${what} does not answer: `, 'm');
    await until(`it warns of ${what}`, () => warning.test(service.stdout()));
  }
  await service.end('SIGTERM');
  await home.remove();
});

test('log lines are dropped while the disk is full, and the process continues', () => {
  const log = new URL('../../src/app/log.ts', import.meta.url).href;
  const program = `
    import { createLog } from '${log}';
    const { log, flush } = createLog('info', (text) => text);
    log.info('nowhere to go');
    flush();
    process.stderr.write('goes on');
  `;
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' },
  );
  closeSync(full);
  expect([status, stderr]).toEqual([0, 'goes on']);
});
