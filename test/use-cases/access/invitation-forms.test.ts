import { beforeEach, expect, test } from '@jest/globals';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import type { IdempotencyKeys } from '../../../src/access/ports.ts';
import { invitation, newLink, ownLink } from '../../../src/adapters/dashboard/account/people.ts';
import { actOnce } from '../../../src/adapters/dashboard/frame/sent-form.ts';
import type { Form, Visit } from '../../../src/adapters/dashboard/frame/screen.ts';
import { accessLabs, type AccessLab } from '../../support/access/access-lab.ts';
import { now } from '../../support/accounts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
const accessLab = accessLabs();
const mostInAMinute = 20;

let face: AccessLab['face'];
let idempotencyKeys: IdempotencyKeys;
let mia: SignedIn;
/** The number of transactions that still end in a conflict, so that the database runs them again. */
let conflicts = 0;
let sent = 0;
beforeEach(async () => {
  const { accounts, people, sessions, signInLinks, mailRequests, ...stores } = await open();
  ({ face } = await accessLab(now, { accounts, people, sessions, signInLinks, mailRequests }));
  idempotencyKeys = {
    once: (request, work, admit) =>
      stores.idempotencyKeys.once(request, () => work().then(orConflict), admit),
    replace: (...kept) => stores.idempotencyKeys.replace(...kept),
  };
  const draft = { name: 'Zoo', email: 'mia@zoo.example', plan: 'free' } as const;
  await face.createAccount(draft);
  const { secret } = await face.signInLinkFor(draft.email);
  const from = { network: '127.0.0.1', browser: '', device: undefined };
  const session = await face.signInByLink(secret, from);
  mia = (await face.findSession(session.secret))!;
});

const orConflict = <Answer>(answer: Answer): Answer => {
  if (conflicts === 0) return answer;
  conflicts -= 1;
  throw Object.assign(new Error('a deadlock'), { code: 'ER_LOCK_DEADLOCK' });
};
const send = (formOf: typeof invitation, typed: Readonly<Record<string, string>>) => {
  const settings = { origin: 'https://shop.example' } as Parameters<
    typeof invitation
  >[0]['settings'];
  const form: Form = formOf({
    access: face,
    notifications: { isMailOn: false } as Parameters<typeof invitation>[0]['notifications'],
    settings,
  });
  const visit: Visit = {
    signedIn: mia,
    accountId: mia.account.id,
    parameters: typed,
    now,
    query: new URLSearchParams(),
    may: () => true,
  };
  const values = { ...typed, once: `form_${(sent += 1) + 1_000_000}` };
  const screen = { path: form.path };
  const act = () => form.act(visit, values as never);
  return actOnce({ screen, form, visit, values, ports: { idempotencyKeys } }, act);
};
const invite = (email: string) => send(invitation, { email, role: 'editor' });

test('an invitation counts once, however often its transaction runs', async () => {
  for (let n = 0; n < mostInAMinute; n += 1) {
    conflicts = 2;
    expect(await invite(`k${n}@zoo.example`)).toMatchObject({ status: 201 });
  }
  await expect(invite('more@zoo.example')).rejects.toHaveProperty('code', 'too_many_requests');
  expect(await face.listPeople(mia.account.id)).toHaveLength(1 + mostInAMinute);
});

test('a new link for a colleague counts as an invitation, but one for yourself does not', async () => {
  await invite('ben@zoo.example');
  const all = await face.listPeople(mia.account.id);
  const ben = all.find(({ email }) => email === 'ben@zoo.example')!;
  for (let n = 1; n < mostInAMinute; n += 1) await send(newLink, { person: ben.id });
  const more = send(newLink, { person: ben.id });
  await expect(more).rejects.toHaveProperty('code', 'too_many_requests');
  expect(await send(ownLink, {})).toMatchObject({ status: 200 });
});
