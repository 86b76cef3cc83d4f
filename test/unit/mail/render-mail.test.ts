import { describe, expect, test } from '@jest/globals';
import { renderMail, renderSummary } from '../../../src/adapters/mail/mail-html.ts';
import { inWords, kinds } from '../../../src/notifications/domain/kinds.ts';
import type { NotificationContent } from '../../../src/notifications/domain/notification.ts';
import { everyKind } from '../../support/notifications.ts';

const envelope = { account: 'Birds', origin: 'https://store.example' };
const unsubscribeUrl = 'https://store.example/dashboard/unsubscribe/token';
const told = everyKind();
const linksIn = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, url]) => url);
const inOneLine = (text: string) => text.replaceAll('\n', ' ');
const keyNamed = (name: string): NotificationContent => ({
  kind: 'key.banned',
  about: { keyId: 'key_1', name, until: '2026-03-01T10:05:00.000Z' },
});

describe.each(told)('a mail of the kind $kind', (one) => {
  const { title, text: words, link } = inWords(one);
  const { subject, text, html } = renderMail({ ...one, ...envelope, unsubscribeUrl });

  test('names the account and what happened in its subject', () => {
    expect(subject).toBe(`[Birds] ${title}`);
  });

  test('says everything in its text part too, in lines of limited length', () => {
    expect(inOneLine(text)).toContain(title);
    expect(inOneLine(text)).toContain(words);
    expect(text).toContain(`${link.text}:\nhttps://store.example${link.path}\n`);
    const lines = text.split('\n').filter((line) => !line.startsWith('https://'));
    expect(lines.filter((line) => line.length > 72)).toEqual([]);
  });

  test('has one link to act, with an address that works from anywhere', () => {
    const [first, ...others] = linksIn(html);
    expect(first).toBe(`https://store.example${link.path}`);
    const footer = ['https://store.example/dashboard/me#mail', unsubscribeUrl];
    expect(others).toEqual(kinds[one.kind].to === 'person' ? [] : footer);
  });

  test('loads nothing, tracks nobody and runs nothing', () => {
    expect(html).not.toMatch(
      /<(img|link|script|iframe|object|video|form|input)|url\(|@import| on\w+=|src=/i,
    );
  });
});

test('a mail without an unsubscribe link still says where to choose which mails to get', () => {
  const { text, html } = renderMail({ ...told[0]!, ...envelope });
  expect(`${text}${html}`).not.toContain('Unsubscribe');
  expect(text).toContain('Choose which mails you get:\nhttps://store.example/dashboard/me#mail');
});

test('a name with line breaks adds no header and no line to the text', () => {
  const account = 'Birds\r\nBcc: all@zoo.example\r\n\r\nHello\u2028there';
  const { subject, text } = renderMail({ ...keyNamed('a\nb\u0000c'), ...envelope, account });
  expect(subject).toBe(
    '[Birds Bcc: all@zoo.example Hello there] The API key a b c was banned for a while',
  );
  expect(text).not.toMatch(/^Bcc/m);
});

test('markup and quotation marks in names are shown as they are', () => {
  const account = `<b>"Birds" & 'Co'</b>`;
  const { subject, text, html } = renderMail({ ...keyNamed(`"><script>`), ...envelope, account });
  expect(subject).toContain(account);
  expect(inOneLine(text)).toContain(account);
  expect(html).toContain('&lt;b&gt;&quot;Birds&quot; &amp; &#39;Co&#39;&lt;/b&gt;');
  expect(html).toContain('&quot;&gt;&lt;script&gt;');
});

test('a very long name is cut between whole characters', () => {
  const long = '🦜'.repeat(5000);
  const { subject, text, html } = renderMail({ ...keyNamed(long), ...envelope, account: long });
  expect([...subject]).toHaveLength(300);
  expect(subject.startsWith(`[${'🦜'.repeat(59)}…] The API key 🦜`)).toBe(true);
  for (const part of [subject, text, html]) expect(part.isWellFormed()).toBe(true);
  expect(html.length).toBeLessThan(20_000);
});

test('a right-to-left name does not reorder the words around it', () => {
  const hebrew = 'ציפורים';
  const { html, text } = renderMail({ ...told[0]!, ...envelope, account: `\u202e${hebrew}` });
  expect(html).toContain(`<bdi>${hebrew}</bdi>`);
  expect(text).toContain(`\u2068${hebrew}\u2069`);
  expect(`${html}${text}`).not.toContain('\u202e');
});

describe('a summary', () => {
  const owners = told.filter(({ kind }) => kinds[kind].to === 'owners');

  test('contains everything, and begins with the most urgent item', () => {
    const { subject, text, html } = renderSummary({ ...envelope, told: owners });
    expect(subject).toBe(
      `[Birds] shop.birds.test was taken over by another account, and ${owners.length - 1} more`,
    );
    for (const { title, text: words } of owners.map((one) => inWords(one))) {
      expect(inOneLine(text)).toContain(`* ${title} ${words}`);
      expect(html).toContain(title);
    }
    expect(linksIn(html)).toContain('https://store.example/dashboard/notices');
  });

  test('of very many items stays short, and links to all of them', () => {
    const many = Array.from({ length: 500 }, (_, n) => keyNamed(`Key ${n}`));
    const { subject, text } = renderSummary({ ...envelope, told: many });
    expect(subject).toBe('[Birds] The API key Key 0 was banned for a while, and 499 more');
    expect(text.match(/^\* /gm)).toHaveLength(20);
    expect(text).toContain('500 things happened');
    expect(inOneLine(text)).toContain(
      'The 20 most important ones are below. The notices also show the other 480.',
    );
    expect(text).toContain('Show all notices:\nhttps://store.example/dashboard/notices\n');
  });
});
