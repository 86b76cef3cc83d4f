import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Email } from 'postal-mime';
import { SmtpPostman, smtpOptions } from '../../../src/adapters/mail/smtp-postman.ts';
import type { OutgoingMail } from '../../../src/notifications/ports.ts';
import {
  closedPort,
  MailServer,
  SilentServer,
  type Refusal,
} from '../../support/servers/mail-server.ts';
import { everyKind } from '../../support/notifications.ts';
import { neverMs, until } from '../../support/until.ts';
import { type TlsPair, loopbackTls } from '../../lab/authority/pebble.ts';

const sender = { from: 'Animal Store <store@shop.example>', origin: 'https://app.shop.example' };
const told = everyKind().find(({ kind }) => kind === 'certificate.failing')!;
const mailTo = (to: string, draft: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: 'evt_1:pers_1',
  to,
  account: 'Birds & Co',
  told: [told],
  unsubscribeToken: 'v1.abc',
  ...draft,
});
const never = new AbortController().signal;
const headersOf = (mail: Email | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(mail?.headers.map(({ key, value }) => [key, value]) ?? []);

let server: MailServer;
let answers: Record<string, Refusal | 'hang'> = {};
beforeAll(async () => {
  server = await MailServer.start({ answer: (to) => answers[to] });
});
afterAll(() => server.stop());
beforeEach(() => {
  server.taken.length = 0;
  answers = {};
});

/** At the deadline the error has this message. The limits of nodemailer for each step have different messages. */
const atDeadline = 'Message sending aborted';
const postman = (url = server.url, deadlineMs = neverMs) =>
  new SmtpPostman(smtpOptions(url), sender, deadlineMs);

describe('a message', () => {
  test('arrives complete: sender, address, subject, both texts, and nothing that loads or tracks', async () => {
    expect(await postman().post(mailTo('keeper@zoo.example'), never)).toEqual({ kind: 'taken' });
    const [mail] = server.taken;
    expect(mail?.from).toEqual({ name: 'Animal Store', address: 'store@shop.example' });
    expect(mail?.to).toEqual([{ name: '', address: 'keeper@zoo.example' }]);
    expect(mail?.subject).toBe(
      '[Birds & Co] The certificate of shop.birds.test could not be renewed',
    );
    expect(mail?.text).toContain('You need to act.');
    expect(String(mail?.html)).not.toMatch(/<img|src=|https?:\/\/(?!app\.shop\.example)/i);
    expect(mail?.attachments).toEqual([]);
  });

  test('has the same Message-ID at each attempt, and every mail has its own', async () => {
    const ids = ['evt_1:pers_1', 'evt_1:pers_1', 'evt_1:pers_2'];
    for (const id of ids) await postman().post(mailTo('keeper@zoo.example', { id }), never);
    expect(server.messageIds).toEqual([
      ...['<evt_1.pers_1@app.shop.example>', '<evt_1.pers_1@app.shop.example>'],
      '<evt_1.pers_2@app.shop.example>',
    ]);
  });

  test('offers one-click unsubscribe (RFC 8058) and is marked as automatic', async () => {
    await postman().post(mailTo('keeper@zoo.example'), never);
    const url = 'https://app.shop.example/dashboard/unsubscribe?token=v1.abc';
    expect(headersOf(server.taken[0])).toMatchObject({
      'list-unsubscribe': `<${url}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'auto-submitted': 'auto-generated',
    });
    expect(server.taken[0]?.text).toContain(url);
  });

  test('of a personal kind offers no unsubscribe', async () => {
    const personal = everyKind().find(({ kind }) => kind === 'password.changed')!;
    const draft = { told: [personal], unsubscribeToken: undefined };
    await postman().post(mailTo('keeper@zoo.example', draft), never);
    const names = Object.keys(headersOf(server.taken[0]));
    expect(names).toContain('auto-submitted');
    expect(names.filter((name) => name.startsWith('list'))).toEqual([]);
  });

  test('can summarise several events', async () => {
    const all = everyKind().slice(0, 6);
    await postman().post(mailTo('keeper@zoo.example', { told: all }), never);
    expect(server.taken[0]?.subject).toContain('and 5 more');
    expect(server.taken[0]?.text).toContain('shop.birds.test is live');
  });

  test('goes to exactly one address, whatever characters the address contains', async () => {
    await postman().post(mailTo('keeper,other@zoo.example'), never);
    const addresses = server.taken.flatMap(({ to = [] }) => to);
    expect(addresses.map(({ address }) => address)).toEqual(['"keeper,other"@zoo.example']);
  });
});

describe('when the server does not accept a message', () => {
  test.each([
    ['RCPT', 550, 'no such  user', 'refused'],
    ['RCPT', 554, '5.1.1 no such user', 'refused'],
    ['RCPT', 550, '5.2.1 mailbox disabled', 'refused'],
    ['DATA', 552, '5.2.2 mailbox full', 'refused'],
    ['DATA', 554, '5.6.0 cannot be read', 'refused'],
    ['RCPT', 451, 'busy', 'failed'],
    ['DATA', 452, 'full', 'failed'],
    ['RCPT', 554, '5.7.1 relay access denied', 'failed'],
    ['RCPT', 550, '5.7.1 your network is on a list', 'failed'],
    ['RCPT', 550, '5.4.5 daily sending quota exceeded', 'failed'],
    ['RCPT', 550, '5.1.8 bad address of sender', 'failed'],
    ['RCPT', 530, 'authentication required', 'failed'],
    ['RCPT', 554, 'relay access denied', 'failed'],
    ['DATA', 550, '5.7.26 not authenticated', 'failed'],
    ['DATA', 554, 'looks like spam', 'failed'],
  ] as const)('a refusal at %s with %i %s counts as: %s', async (at, code, text, kind) => {
    answers = { 'keeper@zoo.example': { at, code, text: text.replace(' ', '\r\n') } };
    const posted = await postman().post(mailTo('keeper@zoo.example'), never);
    expect(posted.kind).toBe(kind);
    expect(posted.kind === 'taken' ? '' : posted.reason).toBe(
      `${code} ${text.replaceAll(/ +/g, ' ')}`,
    );
  });

  test("a refusal of our sender is not the recipient's fault", async () => {
    answers = { 'store@shop.example': { at: 'MAIL', code: 550, text: 'not yours' } };
    const posted = await postman().post(mailTo('keeper@zoo.example'), never);
    expect(posted).toEqual({ kind: 'failed', reason: '550 not yours' });
  });

  test('a message refused at first (greylisting) is accepted later', async () => {
    answers = { 'keeper@zoo.example': { at: 'RCPT', code: 451, text: 'come back later' } };
    expect((await postman().post(mailTo('keeper@zoo.example'), never)).kind).toBe('failed');
    answers = {};
    expect((await postman().post(mailTo('keeper@zoo.example'), never)).kind).toBe('taken');
  });

  test('a missing listener counts as a failure', async () => {
    const posted = await postman(`smtp://127.0.0.1:${await closedPort()}`).post(
      mailTo('keeper@zoo.example'),
      never,
    );
    expect(posted.kind).toBe('failed');
  });

  test('a server that never answers counts as a failure at the deadline', async () => {
    const silent = await SilentServer.start();
    const posted = await postman(`smtp://127.0.0.1:${silent.port}`, 200).post(
      mailTo('keeper@zoo.example'),
      never,
    );
    expect(posted).toEqual({ kind: 'failed', reason: atDeadline });
    silent.stop();
  });

  test('a server that hangs after the message counts as a failure at the deadline', async () => {
    answers = { 'keeper@zoo.example': 'hang' };
    const posted = await postman(server.url, 300).post(mailTo('keeper@zoo.example'), never);
    expect(posted).toEqual({ kind: 'failed', reason: atDeadline });
  });

  test('an attempt is abandoned at once when this process stops', async () => {
    answers = { 'keeper@zoo.example': 'hang' };
    const end = new AbortController();
    const posting = postman(server.url, 60_000).post(mailTo('keeper@zoo.example'), end.signal);
    end.abort();
    expect(await posting).toEqual({
      kind: 'failed',
      reason: 'This process was stopped meanwhile.',
    });
  });

  test('nothing is sent to an invalid address', async () => {
    const posted = await postman().post(mailTo('<keeper>@zoo.example'), never);
    expect(posted.kind).toBe('refused');
  });
});

describe('with a password', () => {
  let tls: TlsPair;
  beforeAll(async () => {
    tls = await loopbackTls();
  });
  const users: string[] = [];
  const start = (options: Parameters<typeof MailServer.start>[0]) =>
    MailServer.start({
      ...tls,
      authOptional: false,
      disabledCommands: [],
      onAuth: ({ username = '', password }, session, done) => {
        users.push(`${username} ${String(password)} ${session.secure ? 'by TLS' : 'in the clear'}`);
        if (password === 'a/b@c') done(null, { user: username });
        else done(new Error('Wrong password'));
      },
      ...options,
    });
  const post = async (url: string, options: object = {}) =>
    new SmtpPostman({ ...smtpOptions(url), ...options }, sender, neverMs).post(
      mailTo('keeper@zoo.example'),
      never,
    );
  const trusting = () => ({ tls: { ca: tls.cert } });
  const elsewhere = (url: string) => {
    const { requireTLS, ignoreTLS } = smtpOptions(url.replace('127.0.0.1', 'mail.shop.example'));
    return { requireTLS, ignoreTLS };
  };
  beforeEach(() => {
    users.length = 0;
  });

  test('smtps:// uses TLS from the first byte, with a valid certificate', async () => {
    const own = await start({ secure: true });
    const url = `smtps://store:a%2Fb%40c@127.0.0.1:${own.port}`;
    expect((await post(url, trusting())).kind).toBe('taken');
    expect(users).toEqual(['store a/b@c by TLS']);
    const posted = await post(url);
    expect(posted).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/self.signed/) });
    await own.stop();
  });

  test('smtp:// to another machine starts TLS before the password, or fails', async () => {
    const own = await start({});
    const url = `smtp://store:a%2Fb%40c@127.0.0.1:${own.port}`;
    expect((await post(url, { ...trusting(), ...elsewhere(url) })).kind).toBe('taken');
    expect(users).toEqual(['store a/b@c by TLS']);
    await own.stop();
    const plain = await start({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
    const there = `smtp://store:a%2Fb%40c@127.0.0.1:${plain.port}`;
    expect((await post(there, elsewhere(there))).kind).toBe('failed');
    expect(users).toHaveLength(1);
    await plain.stop();
  });

  test("a wrong password is the operator's problem, and no recipient counts as refused", async () => {
    const own = await start({ secure: true });
    const posted = await post(`smtps://store:wrong@127.0.0.1:${own.port}`, trusting());
    expect(posted).toEqual({ kind: 'failed', reason: '535 Wrong password' });
    await own.stop();
  });
});

test('each message uses one connection and closes it', async () => {
  await postman().post(mailTo('keeper@zoo.example'), never);
  await until('the server has no connection', () => server.connections === 0);
});
