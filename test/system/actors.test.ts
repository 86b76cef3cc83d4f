import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  newHome,
  printedAccount,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';

let home: Home;
let service: Service;
beforeAll(async () => {
  home = await newHome('sqlite');
  service = await home.start();
});
afterAll(async () => {
  await service.end('SIGTERM');
  await home.remove();
});

interface Entry {
  readonly what: string;
  readonly actor: string;
}

test('the audit log shows what the service, an operator and a key did', async () => {
  const account = printedAccount(service);
  await home.run(['key', 'create', '--account', account, '--name', 'Till']);
  const answer = await fetch(`${service.origin}/v1/pets`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${printedKey(service)}`, 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
  });
  expect(answer.status).toBe(201);
  const { stdout } = await home.run(['account', 'audit', '--account', account, '--json']);
  const entries = JSON.parse(stdout) as Entry[];
  const actors = entries.map(({ what, actor }) => `${what} by ${actor.replace(/key_.+/, 'key')}`);
  expect(actors.sort()).toEqual([
    'account_opened by service',
    'api_key_issued by operator',
    'api_key_issued by service',
    'person_invited by service',
    'pet_added by key:key',
    'sign_in_link_made by service',
  ]);
});
