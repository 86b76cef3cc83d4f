import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { restMs } from '../../../src/access/domain/mail-request.ts';
import { signInLimits } from '../../../src/access/domain/session.ts';
import { PersonalMails, type SignedIn } from '../../../src/access/people-ports.ts';
import { mostAnswered } from '../../../src/access/use-cases/mailed-links.ts';
import { accessLabs, type AccessLab } from '../../support/access/access-lab.ts';
import { codeOf } from '../../support/race.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:30Z');
const minute = 60_000;
const hour = 60 * minute;
const email = 'mia@shop.example';
const from = { network: '203.0.113.7', browser: 'Firefox' };
const password = 'seven quiet tortoises';

let lab: AccessLab;
let face: Access;
let accountId: string;
beforeEach(async () => {
  lab = await accessLab(start);
  ({ face } = lab);
  ({ id: accountId } = (await face.createAccount({ name: 'Zoo', email, plan: 'pro' })).account);
});

/** Advances to when the requests are due. */
const work = () => {
  lab.clock.advance(restMs);
  return face.answerMailRequests(() => false);
};
const hasDue = async (): Promise<boolean> => {
  const dueAt = await face.mailRequestsDueAt();
  return dueAt !== undefined && dueAt <= lab.clock.now();
};
const ask = (whose = email, wants: 'sign_in' | 'new_password' = 'sign_in', origin = from) =>
  face.askForLink({ email: whose, wants }, origin);
/** Delivers the events to the subscriber, some of them twice. */
const deliver = async () => {
  for (const { id, actor, event } of await lab.stored()) {
    if (event.type !== 'link_mail_wanted' && event.type !== 'password_changed') continue;
    for (let time = 0; time < 2; time++) await face.wantMail({ id, actor, event: event as never });
  }
};
const signIn = async (secret: string): Promise<SignedIn> =>
  (await face.findSession((await face.signInByLink(secret, from)).secret))!;

describe('a request for a link', () => {
  test.each(['sign_in', 'new_password'] as const)(
    'causes a mail with a link that signs in once, for half an hour (%s)',
    async (wants) => {
      await ask(' MIA@shop.example ', wants);
      expect(lab.mailed()).toEqual([]);
      expect(await face.mailRequestsDueAt()).toEqual(new Date(start.getTime() + restMs));
      lab.clock.advance(restMs - 1);
      await face.answerMailRequests(() => false);
      expect(lab.mailed()).toEqual([]);
      lab.clock.advance(1);
      expect(await hasDue()).toBe(true);
      await face.answerMailRequests(() => false);
      expect(await hasDue()).toBe(false);
      const [mail] = lab.mailed();
      expect(mail).toMatchObject({ reason: wants, to: { person: { email } }, occurredAt: start });
      const [link] = mail!.links;
      expect(link).toMatchObject({ account: { name: 'Zoo' }, person: { email } });
      expect(link!.endsAt).toEqual(new Date(start.getTime() + restMs + 30 * minute));
      lab.clock.advance(30 * minute - 1);
      expect((await signIn(link!.secret)).session.way).toBe('link');
      await expect(signIn(link!.secret)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    },
  );

  test('leads to one mail each time, however often the worker checks', async () => {
    for (let time = 0; time < 2; time++) await ask();
    for (let look = 0; look < 3; look++) await work();
    expect(lab.mailed()).toHaveLength(2);
  });

  test('for an address with several accounts leads to one mail with a link to each, those with a proven address first', async () => {
    const draft = { email: 'eve@elsewhere.example', plan: 'free' } as const;
    const others = [];
    for (const name of ['First', 'Second', 'Third']) {
      const { account } = await face.createAccount({ name, ...draft });
      others.push((await face.invite(account.id, email)).secret);
      if (name === 'Third') await face.inviteAnybody(account.id, email);
    }
    await signIn(others[1]!);
    const third = (await lab.ports.people.listByEmail(email)).at(-1)!;
    await signIn((await face.signInLinkFor(email, third.accountId)).secret);
    await ask();
    await work();
    const mailed = lab.mailed();
    expect(mailed).toHaveLength(1);
    const { to, links } = mailed[0]!;
    const names = links.map(({ account }) => account.name);
    expect(names).toEqual(['Third', 'Zoo', 'First', 'Second']);
    expect(to.account.name).toBe('Third');
    for (const { secret, account } of links) {
      expect((await signIn(secret)).account.id).toBe(account.id);
    }
  });

  test('lets a person choose a new password without the old one, which ends the other links', async () => {
    await ask(email, 'new_password');
    await ask(email, 'new_password');
    await work();
    const [first, second] = lab.mailed().map(({ links }) => links[0]!.secret);
    await face.choosePassword(await signIn(first!), { current: '', wanted: password });
    await expect(signIn(second!)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    expect((await face.signIn({ email, password }, from)).way).toBe('password');
  });

  test('stores the same rows and makes the same queries, whether an address is known or not', async () => {
    const asked: string[] = [];
    const heard = <Port extends object>(name: string, port: Port): Port =>
      new Proxy(port, {
        get: (target, key) => {
          const its: unknown = Reflect.get(target, key);
          if (typeof its !== 'function') return its;
          return (...given: readonly unknown[]): unknown => {
            asked.push(`${name}.${String(key)}`);
            return Reflect.apply(its, target, given);
          };
        },
      });
    const { ports } = lab;
    const all = Object.entries(ports).map(([name, port]: [string, object]): [string, object] => [
      name,
      heard(name, port),
    ]);
    const listening = (await accessLab(start, Object.fromEntries(all))).face;
    const trail = async (whose: string) => {
      asked.length = 0;
      await listening.askForLink({ email: whose, wants: 'sign_in' }, from);
      return [...asked];
    };
    const { account } = await face.createAccount({ name: 'Else', email: 'e@e.test', plan: 'free' });
    await face.invite(account.id, 'many@shop.example');
    await face.invite(accountId, 'many@shop.example');
    const usual = await trail('nobody@shop.example');
    expect(usual.filter((one) => one.includes('.add'))).toEqual(['mailRequests.add']);
    expect(usual.filter((one) => /^(people|accounts|sessions|signInLinks)/.test(one))).toEqual([]);
    for (const whose of [email, 'many@shop.example', ...Array.from({ length: 5 }, () => email)]) {
      expect(await trail(whose)).toEqual(usual);
      await work();
    }
    expect(lab.mailed()).toHaveLength(4);
  });

  test.each([
    '',
    'mia',
    '@shop.example',
    'mia@shop',
    `${'m'.repeat(250)}@shop.example`,
    'mia@a b.test',
    'mia@shop.example\r\nBcc: all@shop.example',
    'mia@shop.example\0',
  ])('refuses %j, which is not an address, and does not count it', async (typed) => {
    await expect(ask(typed)).rejects.toHaveProperty('code', 'person_invalid');
    expect(await hasDue()).toBe(false);
  });

  test('is limited for one network, with an answer that reveals nothing about the addresses', async () => {
    for (let n = 0; n < 20; n++) await ask(`keeper${n}@shop.example`);
    const refused = await ask().catch((error: unknown) => error);
    const unknown = await ask('nobody@shop.example').catch((error: unknown) => error);
    expect(refused).toEqual(unknown);
    expect(refused).toMatchObject({ code: 'too_many_sign_ins', retryAfter: 30 });
    await ask(email, 'sign_in', { ...from, network: '198.51.100.1' });
    lab.clock.advance(minute);
    await ask();
  });

  test('does not use up password attempts, and passwords do not use up requests for links', async () => {
    for (let n = 0; n < 20; n++) await ask(`keeper${n}@shop.example`);
    const attempt = () => face.signIn({ email, password }, from).catch(codeOf);
    expect(await attempt()).toBe('sign_in_refused');
    lab.clock.advance(minute);
    for (let n = 0; n < 25; n++) await attempt();
    await ask();
  });

  const floodFrom = async (networkOf: (n: number) => string, times: number) => {
    let asked = 0;
    for (let n = 0; n < times; n++) {
      const origin = { ...from, network: networkOf(n) };
      const outcome = await ask(`a${n}@shop.example`, 'sign_in', origin).catch(codeOf);
      if (outcome !== 'too_many_sign_ins') asked += 1;
    }
    return asked;
  };
  const hex = (n: number) => n.toString(16);
  const { perMinute } = signInLimits.network;

  test.each([
    ['a /64', perMinute, () => '2001:db8:1:2::/64'],
    ['a /56', 2 * perMinute, (n: number) => `2001:db8:1:${hex(n % 256)}::/64`],
    ['a /48', 4 * perMinute, (n: number) => `2001:db8:1:${hex(256 * (n % 256))}::/64`],
    ['a /32', 40 * perMinute, (n: number) => `2001:db8:${hex(n)}::/64`],
    ['an IPv4 address', perMinute, () => '198.51.100.1'],
    ['a /24', 8 * perMinute, (n: number) => `198.51.100.${n % 256}`],
  ])(
    'from %s is possible %d times a minute, and afterwards still from elsewhere',
    async (_, most, of) => {
      expect(await floodFrom(of, most + 60)).toBe(most);
      await ask();
      const other = { ...from, network: '2001:db9::/64' };
      await ask(email, 'sign_in', other);
      expect(await ask(email, 'sign_in', { ...from, network: of(0) }).catch(codeOf)).toBe(
        'too_many_sign_ins',
      );
      lab.clock.advance(minute);
      await ask(email, 'sign_in', { ...from, network: of(0) });
    },
  );

  test('is answered in turns, so that a flood from many networks delays no other request', async () => {
    const flood = async (networks: number, networkOf: (n: number, part: number) => string) => {
      for (let n = 0; n < networks; n++) {
        for (let time = 0; time < 2 * perMinute; time++) {
          const origin = { ...from, network: networkOf(n, time % 2) };
          await ask(`a${n}@flood.example`, 'sign_in', origin);
        }
      }
    };
    await flood(10, (n, part) => `2001:db8:${hex(n)}:${part}00::/64`);
    await flood(5, (n, part) => `198.51.${n}.${part}`);
    await ask();
    await work();
    expect(lab.mailed().map(({ to }) => to.person.email)).toEqual([email]);
    const left = await lab.ports.mailRequests.waiting(1000);
    expect(left).toHaveLength(15 * 2 * perMinute + 1 - mostAnswered);
  });

  test('in a known browser is counted separately, with its own limit', async () => {
    const { device } = await face.signInByLink((await face.signInLinkFor(email)).secret, from);
    const known = { ...from, device };
    for (let n = 0; n < 10; n++) await ask(n < 5 ? email : 'nobody@shop.example', 'sign_in', known);
    expect(await ask(email, 'sign_in', known).catch(codeOf)).toBe('too_many_sign_ins');
    const forged = { ...from, network: '192.0.2.9', device: `${device}x` };
    for (let n = 0; n < perMinute; n++) await ask(email, 'sign_in', forged);
    expect(await ask(email, 'sign_in', forged).catch(codeOf)).toBe('too_many_sign_ins');
  });
});

describe('the limits of an address', () => {
  test('allow three mails in an hour and ten in a day, however the address is written', async () => {
    const written = [
      'mia@shop.example',
      'MIA@SHOP.EXAMPLE',
      ' Mia@Shop.example\t',
      'mIa@shop.example',
    ];
    const counts: number[] = [];
    for (let hours = 0; hours < 25; hours++) {
      for (const one of written) await ask(one, hours % 2 ? 'sign_in' : 'new_password');
      await work();
      counts.push(lab.mailed().length);
      lab.clock.advance(hour);
    }
    expect(counts).toEqual([3, 6, 9, ...Array.from({ length: 21 }, () => 10), 13]);
  });

  test('do not let requests from elsewhere block the mails that the person requests', async () => {
    const { device } = await face.signInByLink((await face.signInLinkFor(email)).secret, from);
    const attack = async (network: string) => {
      for (let time = 0; time < 4; time++) await ask(email, 'sign_in', { ...from, network });
      await work();
      return lab.mailed().length;
    };
    expect(await attack('198.51.100.1')).toBe(3);
    await ask();
    await work();
    expect(lab.mailed()).toHaveLength(4);
    for (let n = 0; n < 5; n++) await attack(`198.51.100.${2 + n}`);
    expect(lab.mailed()).toHaveLength(10);
    await ask();
    await work();
    expect(lab.mailed()).toHaveLength(10);
    await ask(email, 'new_password', { ...from, network: '192.0.2.1', device } as never);
    await work();
    expect(lab.mailed()).toHaveLength(11);
  });

  test('apply to browsers that opened links which were shown to another person', async () => {
    const stranger = 'stranger@else.example';
    for (let n = 0; n < 12; n++) {
      const { account } = await face.createAccount({
        name: 'Mallory',
        email: `m${n}@m.test`,
        plan: 'free',
      });
      const { secret, person } = await face.invite(account.id, stranger);
      const opened = await face.signInByLink(secret, from);
      const signedIn = (await face.findSession(opened.secret))!;
      await face.choosePassword(signedIn, { current: '', wanted: password });
      const { device } = await face.signIn({ email: stranger, password }, from);
      expect(await lab.ports.people.find(person.id)).toMatchObject({ provenAt: undefined });
      for (let time = 0; time < 3; time++)
        await ask(stranger, 'sign_in', { ...from, device } as never);
      lab.clock.advance(minute);
    }
    await deliver();
    await work();
    expect(lab.mailed().map(({ reason }) => reason)).toEqual(Array(3).fill('sign_in'));
  });

  test('do not block the notice of a changed password', async () => {
    for (let time = 0; time < 5; time++) await ask();
    await work();
    const [{ links }] = lab.mailed() as [ReturnType<AccessLab['mailed']>[0]];
    await face.choosePassword(await signIn(links[0]!.secret), { current: '', wanted: password });
    await deliver();
    await work();
    expect(lab.mailed().map(({ reason }) => reason)).toEqual([
      ...['sign_in', 'sign_in', 'sign_in', 'password_changed'],
    ]);
  });
});

describe('an invitation', () => {
  const invited = 'ben@shop.example';

  test('is mailed once with its own link for seven days', async () => {
    const shown = await face.invite(accountId, invited);
    await deliver();
    await work();
    const mailed = lab.mailed();
    expect(mailed).toHaveLength(1);
    const { reason, to, links } = mailed[0]!;
    expect([reason, to.person.email, links.length]).toEqual(['invitation', invited, 1]);
    expect(links[0]!.endsAt).toEqual(new Date(shown.endsAt.getTime() + restMs));
    expect(links[0]!.secret).not.toBe(shown.secret);
    expect((await signIn(links[0]!.secret)).person.id).toBe(shown.person.id);
    await expect(signIn(shown.secret)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
  });

  test('is mailed again when a colleague creates another link', async () => {
    const { person } = await face.invite(accountId, invited);
    const owner = await signIn((await face.signInLinkFor(email)).secret);
    await face.renewLink(owner, person.id);
    await deliver();
    await work();
    expect(lab.mailed().map(({ to }) => to.person.email)).toEqual([invited, invited]);
  });

  test('is refused to an account that has a hundred people, or sent fifty invitations today', async () => {
    const invite = async (n: number, account = accountId) => {
      await face.admitInvitation(account);
      return face.invite(account, `b${n}@shop.example`);
    };
    for (let day = 0, n = 0; n < 99; n++) {
      if (n % 20 === 19) lab.clock.advance(minute);
      if (n === 50 * (day + 1)) {
        expect(await invite(n).catch(codeOf)).toBe('too_many_requests');
        lab.clock.advance(24 * hour);
        day += 1;
      }
      await invite(n);
    }
    lab.clock.advance(24 * hour);
    const full = await invite(99).catch((error: unknown) => error);
    expect(full).toMatchObject({
      code: 'people_full',
      message: 'An account has at most 100 people. Remove somebody before you invite more.',
    });
    await invite(98);
    await face.inviteAnybody(accountId, 'b98@shop.example');
    const more = face.inviteAnybody(accountId, 'one-more@shop.example');
    expect(await more.catch(codeOf)).toBe('people_full');
    const draft = { name: 'Else', email: 'e@e.test', plan: 'free' } as const;
    await invite(1, (await face.createAccount(draft)).account.id);
  });

  test('for yourself does not count as one, but has a limit too', async () => {
    const owner = await signIn((await face.signInLinkFor(email)).secret);
    const admit = () => face.admitNewLink(owner, owner.person.id);
    for (let n = 0; n < signInLimits.ownLinks.perMinute; n++) await admit();
    expect(await admit().catch(codeOf)).toBe('too_many_requests');
    lab.clock.advance(minute);
    await admit();
    await face.admitInvitation(accountId);
  });

  test('is counted for each account, and its sender sees when it is not mailed', async () => {
    const inviteAndSend = async (account: string) => {
      const { isMailed } = await face.invite(account, invited);
      await deliver();
      await work();
      return isMailed;
    };
    const outcomes: boolean[] = [];
    for (let time = 0; time < 4; time++) outcomes.push(await inviteAndSend(accountId));
    expect(outcomes).toEqual([true, true, true, false]);
    expect(lab.mailed()).toHaveLength(3);
    const others: boolean[] = [];
    for (let n = 0; n < 8; n++) {
      const draft = { name: `Else ${n}`, email: `e${n}@e.test`, plan: 'free' } as const;
      others.push(await inviteAndSend((await face.createAccount(draft)).account.id));
    }
    expect(others).toEqual([true, true, true, true, true, true, true, false]);
    expect(lab.mailed()).toHaveLength(10);
  });

  test('is not mailed to a person who has joined meanwhile, or was removed', async () => {
    const [ben, cleo] = [
      await face.invite(accountId, invited),
      await face.invite(accountId, 'cleo@shop.example'),
    ];
    await signIn(ben.secret);
    await face.dismiss(accountId, cleo.person.id);
    await deliver();
    await work();
    expect(lab.mailed()).toEqual([]);
    expect(await hasDue()).toBe(false);
  });

  test('by the operator is a sign-in link for a person who has signed in before', async () => {
    await signIn((await face.inviteAnybody(accountId, invited)).secret);
    lab.clock.advance(1);
    await face.inviteAnybody(accountId, invited);
    await deliver();
    await work();
    expect(lab.mailed().map(({ reason }) => reason)).toEqual(['sign_in']);
  });

  test('is not mailed for a link that a person creates for themselves or that the operator shows', async () => {
    const owner = await signIn((await face.signInLinkFor(email)).secret);
    await face.renewLink(owner, owner.person.id);
    await deliver();
    expect(await hasDue()).toBe(false);
  });
});

test('the audit log records mailed links, and no event contains a secret', async () => {
  await ask();
  await face.invite(accountId, 'ben@shop.example');
  await deliver();
  await work();
  const secrets = lab.mailed().flatMap(({ links }) => links.map(({ secret }) => secret));
  expect(secrets).toHaveLength(2);
  const stored = await lab.stored();
  const mailed = stored.filter(({ event }) => event.type === 'sign_in_link_mailed');
  expect(mailed.map(({ event }) => event)).toMatchObject([
    { email: 'ben@shop.example' },
    { email },
  ]);
  for (const secret of secrets) expect(JSON.stringify(stored)).not.toContain(secret);
});

test('a request that fails delays no other, and is answered later', async () => {
  let isAway = true;
  class FailingMails extends PersonalMails {
    override add(mail: Parameters<PersonalMails['add']>[0]): Promise<void> {
      if (isAway && mail.to.person.email === email) return Promise.reject(new Error('away'));
      return lab.ports.personalMails.add(mail);
    }
  }
  const failing = (await accessLab(start, { ...lab.ports, personalMails: new FailingMails() }))
    .face;
  await face.invite(accountId, 'ben@shop.example');
  await ask();
  await ask('ben@shop.example');
  lab.clock.advance(restMs);
  await expect(failing.answerMailRequests(() => false)).rejects.toThrow('away');
  expect(lab.mailed().map(({ to }) => to.person.email)).toEqual(['ben@shop.example']);
  isAway = false;
  await failing.answerMailRequests(() => false);
  expect(lab.mailed().map(({ to }) => to.person.email)).toEqual(['ben@shop.example', email]);
});

test('hundreds of requests are answered in one turn', async () => {
  const draft = { name: 'Else', plan: 'free' } as const;
  for (let n = 0; n < 250; n++) {
    const keeper = `keeper-${n}@shop.example`;
    await face.createAccount({ ...draft, email: keeper });
    await ask(keeper, 'sign_in', { ...from, network: `198.51.${n}.1` });
  }
  await work();
  expect(lab.mailed()).toHaveLength(250);
});

test.each(['\u212Aeeper@shop.example', 'KEEPER@SHOP.EXAMPLE'])(
  'another spelling of an address, like %s, uses up the same limit',
  async (spelling) => {
    await face.invite(accountId, 'keeper@shop.example');
    for (let time = 0; time < 3; time++) await ask(time % 2 ? spelling : 'keeper@shop.example');
    await work();
    await ask(spelling);
    await work();
    expect(lab.mailed()).toHaveLength(3);
  },
);

test.each([
  'keeper@s\u0323hop.example',
  'keeper@\u017Fhop.example',
  'keeper@shop.example.',
  'keeper+1@shop.example',
])('an address that only looks similar, like %s, has a separate limit', async (other) => {
  await face.invite(accountId, 'keeper@shop.example');
  await ask(other).catch(() => undefined);
  await work();
  expect(lab.mailed()).toEqual([]);
});

test('a request from before the clock was set back is still answered', async () => {
  await ask();
  lab.clock.advance(-hour);
  await face.answerMailRequests(() => false);
  expect(lab.mailed()).toHaveLength(1);
});

test('a worker that stops begins no further answer', async () => {
  await ask();
  lab.clock.advance(restMs);
  await face.answerMailRequests(() => true);
  expect(lab.mailed()).toEqual([]);
  expect(await hasDue()).toBe(true);
});
