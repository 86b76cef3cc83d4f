import { beforeEach, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { IssuedKey } from '../../../src/access/use-cases/api-keys.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:00:00Z');

let face: Access;
let happened: () => Promise<readonly DomainEvent[]>;
let owner: string;
let stranger: string;
let key: IssuedKey;
beforeEach(async () => {
  ({ face, happened } = await accessLab(now));
  const open = (name: string) =>
    face.createAccount({ name, email: `owner@${name}.example`, plan: 'pro' });
  const { account, key: first } = await open('zoo');
  [owner, key] = [account.id, first];
  stranger = (await open('farm')).account.id;
});

const changes = (accountId?: string) => ({
  rotated: () => face.rotateApiKey(key.id, '0', accountId),
  revoked: () => face.revokeApiKey(key.id, accountId),
  freed: () => face.liftBan(key.id, accountId),
});

test.each(['rotated', 'revoked', 'freed'] as const)(
  "another account's key cannot be %s: it does not exist for you",
  async (change) => {
    const before = (await happened()).length;
    await expect(changes(stranger)[change]()).rejects.toHaveProperty('code', 'api_key_not_found');
    expect(await happened()).toHaveLength(before);
    expect(await face.authenticate(key.secret)).toMatchObject({ keyId: key.id });
  },
);

test.each(['rotated', 'freed', 'revoked'] as const)(
  'a key can be %s by its own account, and by an operator, who names no account',
  async (change) => {
    for (const by of [owner, undefined])
      expect(await changes(by)[change]()).toMatchObject({ id: key.id, accountId: owner });
  },
);
