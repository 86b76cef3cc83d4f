import { expect, test } from '@jest/globals';
import {
  domainMenu,
  noticeAfter,
  verifyForm,
} from '../../../src/adapters/dashboard/domains/actions.ts';
import {
  problemCards,
  resolverSection,
} from '../../../src/adapters/dashboard/domains/diagnostics.ts';
import { progressOf } from '../../../src/adapters/dashboard/domains/progress.ts';
import { recordsToCreate } from '../../../src/adapters/dashboard/domains/records.ts';
import { stepLine, stepsOf } from '../../../src/adapters/dashboard/domains/status.ts';
import { entryInWords } from '../../../src/adapters/dashboard/domains/timeline.ts';
import { html } from '../../../src/adapters/dashboard/frame/html.ts';
import { needsYou } from '../../../src/adapters/dashboard/home/attention.ts';
import type { Refusal } from '../../../src/adapters/dashboard/frame/screen.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem, type DnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import { hostedZone } from '../../../src/domains/domain/dns/provider.ts';
import { recordsFor } from '../../../src/domains/domain/dns/records.ts';
import type { ResolverSummary } from '../../../src/domains/domain/dns/report.ts';
import type { DescribedDomain, DomainView } from '../../../src/domains/use-cases/show-domain.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import {
  added,
  after,
  badReport,
  day,
  hour,
  live,
  minute,
  missing,
  start,
  verified,
  withEveryWork,
} from '../../support/domains/known-domains.ts';

const lives = [
  [90 * day, '30 May 2026'],
  [6 * day, '7 Mar 2026'],
  [hour, '11:00 UTC'],
  [minute, '10:01 UTC'],
] as const;

test.each(lives)('the story says when a certificate of %i ms ends: %s', (life, words) => {
  const details = { outcome: 'issued', notAfter: after(life).toISOString() };
  for (const kind of ['attempt', 'renewed'] as const) {
    const { title } = entryInWords({ kind, occurredAt: start, details });
    expect(html`${title}`.toString()).toContain(`>${words}<`);
  }
});

test.each(lives)('the steps say when a certificate of %i ms ends: %s', (life, words) => {
  if (live.state !== 'live') throw new Error('it is not live');
  const domain = { ...live, certificate: { ...live.certificate, notAfter: after(life) } };
  expect(stepLine(stepsOf(domain, start), start).toString()).toContain(`>${words}<`);
});

const refused = { ...live, dns: { ...live.dns, report: badReport(start) } };
const astray = { since: after(-2 * day), isTold: true };

test.each([
  ['added just now', added],
  ['certificate until 30 May 2026', refused],
  ['since 27 Feb 2026', { ...refused, episodes: { ...refused.episodes, astray } }],
])('what needs the owner says how urgent it is: %s', (words, domain) => {
  const one = { primaries: new Map(), wanting: [domain], wantingInAll: 1 };
  const shown = needsYou([], { ...one, attached: new Map(), live: 1 }, start).toString();
  expect(elementsIn(shown, 'small').map(({ text }) => text)).toEqual([words]);
});

const needs = { platformHost: 'sites.test', txtRequired: false };

/** The values that can be copied from the cards of some problems. */
const copied = (...problems: readonly DnsProblem[]): readonly (string | undefined)[] => {
  const records = recordsFor(added, added.token, needs);
  const view = { domain: added, problems, records } as unknown as DomainView;
  const buttons = elementsIn(problemCards(view, start).toString(), 'button');
  return buttons.map(({ attributes }) => attributes['data-copy']);
};

test('the value of the required record can be copied', () => {
  const wanted = `_animal-store-challenge.shop.example.com TXT "animal-store-verify=${added.token}"`;
  const txt = dnsProblem('ownership_txt_missing', { seen: 'no TXT record', wanted });
  expect(copied(missing, txt)).toEqual([
    `${added.token}.sites.test`,
    `animal-store-verify=${added.token}`,
  ]);
});

const caa = dnsProblem('caa_forbids_issuer', { seen: 'another', wanted: 'ours' });

const readyWith = (...problems: readonly DnsProblem[]): CustomDomain => {
  const validation = { delegated: true, method: 'dns-01' } as const;
  const dns = { ...added.dns, report: { ...badReport(start), problems, validation } };
  return withEveryWork({ ...added, dns }).find(({ certificate }) => certificate.kind === 'issued')!;
};

test.each([
  ['is ready', readyWith(missing), start, /the certificate is ready for when it does/],
  ['has expired', readyWith(missing), after(91 * day), /is not correct yet/],
  ['cannot be renewed', readyWith(missing, caa), start, /is not correct yet/],
] as const)('a check that finds DNS elsewhere says so if the certificate %s', (...found) => {
  const [, domain, now, said] = found;
  const query = new URLSearchParams({ done: 'not-yet' });
  expect(noticeAfter({ query, now }, domain).toString()).toMatch(said);
});

test('while a certificate is ready, DNS that leads elsewhere is no problem, but a forbidden renewal is', () => {
  const records = recordsFor(added, added.token, needs);
  const shown = (problems: readonly DnsProblem[]) =>
    problemCards({ domain: readyWith(missing), problems, records }, start).toString();
  expect(shown([missing])).toContain('<h2 id="your-change">Your DNS change</h2>');
  expect(shown([missing])).not.toMatch(/blocking|Problems|class="bad"/);
  expect(elementsIn(shown([missing, caa]), 'article').map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Now no CNAME After your change CNAME t1\.sites\.test/),
    expect.stringMatching(/^blocking A CAA record forbids the certificate/),
  ]);
});

test('a check that finds a change spreading asks for nothing', () => {
  const resolvers = [1, 2].map((last) => answer(last, { agrees: last === 1 }));
  const dns = { ...added.dns, report: { ...badReport(start), resolvers } };
  const query = new URLSearchParams({ done: 'not-yet' });
  const said = noticeAfter({ query, now: start }, { ...added, dns }).toString();
  expect(said).toContain('Not all resolvers see the change yet');
  expect(said).not.toContain('See what to change');
});

test('a problem that is spreading asks for nothing if the change has been made, like the page does', () => {
  const resolvers = [1, 2].map((last) => answer(last, { agrees: last === 1 }));
  const dns = { ...added.dns, report: { ...badReport(start), resolvers } };
  const view = { domain: { ...added, dns }, problems: [missing], records: [] };
  const [card] = elementsIn(problemCards(view, start).toString(), 'article');
  expect(progressOf(view.domain, start).actor).toBe('nobody');
  expect(card?.text).toMatch(
    /If the change was just made, there is nothing to do\. Otherwise, who acts: You$/,
  );
});

test('a CAA record to add is copied completely', () => {
  const wanted = 'example.com. CAA 0 issue "ca.test"';
  expect(copied(dnsProblem('caa_forbids_issuer', { seen: 'another', wanted }))).toEqual([wanted]);
});

test('nothing can be copied from records to delete or from problems without a record', () => {
  const caa = { seen: 'another', wanted: 'no example.com. CAA 128 tbs "x"' };
  const answer = { seen: 'no answer', wanted: 'the same answer from more than half' };
  expect(copied(dnsProblem('caa_forbids_issuer', caa))).toEqual([]);
  expect(copied(dnsProblem('dns_lookup_failed', answer))).toEqual([]);
});

const zone = 'example.com';
const sectionAt = (nameServer: string, host = 'shop.example.com'): string => {
  const isApex = host === zone;
  const needs = { platformHost: 'sites.test', txtRequired: isApex };
  const domain: DescribedDomain = {
    role: { isPrimary: false, redirectsTo: undefined },
    domain: { ...added, host, unicodeHost: host, registrableDomain: zone },
    records: recordsFor({ host, registrableDomain: zone, isApex }, 't1', needs),
    hosted: hostedZone({ name: zone, nameServers: [nameServer] }, zone),
    bind: '',
    hints: [],
    problems: [],
    contest: undefined,
    health: undefined,
    nextAt: undefined,
  };
  return recordsToCreate([domain]).toString();
};

test("the records are shown in the format of a known provider's form, with hints for that provider", () => {
  const shown = sectionAt('ada.ns.cloudflare.com');
  expect(shown).toContain('belong to <strong>Cloudflare</strong>');
  expect(shown).toContain('data-copy="shop"');
  expect(shown).toContain('Set &quot;Proxy status&quot; to &quot;DNS only&quot;');
  expect(shown).toContain('rel="noopener noreferrer external"');
  expect(sectionAt('ada.ns.cloudflare.com', zone)).toContain('create a CNAME record');
});

test('values are copied with the final dot if a provider needs it', () => {
  expect(sectionAt('helium.ns.hetzner.de')).toContain('data-copy="t1.sites.test."');
  expect(sectionAt('helium.ns.hetzner.de')).toContain('must end in a dot');
  expect(sectionAt('ns1.hover.com')).toContain('data-copy="t1.sites.test"');
});

test('a field that must stay empty has nothing to copy', () => {
  const shown = sectionAt('ns1.name.com', zone);
  expect(shown).toContain('leave it empty');
  expect(shown).not.toContain('data-copy="@"');
});

test('an apex at a provider without ALIAS records gets other advice', () => {
  expect(sectionAt('ns-1.awsdns-01.com', zone)).toContain('Use a name such as www');
});

test.each(['ns1.shop.example', 'ada.evil-ns.cloudflare.com'])(
  'the page says nothing about the provider behind %s',
  (nameServer) => {
    const shown = sectionAt(nameServer);
    expect(shown).not.toContain('id="provider"');
    expect(shown).toContain('data-copy="shop"');
  },
);

const answer = (last: number, known: Partial<ResolverSummary> = {}): ResolverSummary => ({
  resolver: `192.0.2.${last}`,
  tookMs: last,
  seen: 'CNAME elsewhere.test',
  ttl: last * 60,
  agrees: false,
  ...known,
});

const rowsOf = (...resolvers: readonly ResolverSummary[]): readonly string[] => {
  const report = { ...badReport(start), resolvers };
  const markup = resolverSection(report, after(minute)).toString();
  const [, ...rows] = elementsIn(markup, 'tr').map(({ text }) => text);
  return rows;
};

test('resolvers with equal answers share a row, with the longest wait among them', () => {
  expect(rowsOf(answer(1), answer(5), answer(3))).toEqual([
    'All 3 resolvers 192.0.2.1 192.0.2.5 192.0.2.3 CNAME elsewhere.test no in 4 minutes up to 5 ms',
  ]);
});

test('when one answer differs, each resolver has its own row', () => {
  const right = answer(2, { seen: 'CNAME here.test', agrees: true, ttl: undefined });
  expect(rowsOf(answer(1), right, answer(3))).toEqual([
    '192.0.2.1 CNAME elsewhere.test no expired 1 ms',
    '192.0.2.2 CNAME here.test yes unknown 2 ms',
    '192.0.2.3 CNAME elsewhere.test no in 2 minutes 3 ms',
  ]);
});

test('a single answer is not shown as a group', () => {
  expect(rowsOf(answer(5))).toEqual(['192.0.2.5 CNAME elsewhere.test no in 4 minutes 5 ms']);
});

const message = 'The last attempt was a short while ago. Try again in 30 minutes.';
const early: Refusal = { form: 'verify', field: undefined, message, values: {}, parameters: {} };

const shown = (domain: CustomDomain, now: Date, refusal?: Refusal) => {
  const markup = verifyForm(domain, {
    action: '/verify',
    visit: { now, may: () => true },
    refusal,
  }).toString();
  const [button] = elementsIn(markup, 'button');
  return { look: button?.attributes['class'], text: elementsIn(markup, 'form')[0]?.text };
};

test("a domain that was never checked has the page's primary button", () => {
  expect(shown(added, after(minute))).toEqual({ look: 'main', text: 'Verify' });
});

test('Re-verify is a secondary button until it is allowed, and shows when it will be', () => {
  const waiting = shown(verified, after(2 * minute));
  expect(waiting).toEqual({ look: undefined, text: 'Re-verify available in 29 minutes' });
  expect(shown(verified, after(31 * minute))).toEqual({ look: 'main', text: 'Re-verify' });
});

test('pressing too early shows the waiting time once', () => {
  const { text } = shown(verified, after(2 * minute), early);
  expect(text).toBe(`Re-verify ${message}`);
});

test("a menu entry's name uses A-labels, and its text U-labels", () => {
  const domain = { ...added, host: 'xn--bcher-kva.test', unicodeHost: 'bücher.test' };
  const [button] = elementsIn(
    domainMenu(domain, { isPrimary: false, redirectsTo: undefined }, 'birds', {
      may: () => true,
      query: new URLSearchParams(),
    }).toString(),
    'button',
  );
  expect(button?.attributes).toMatchObject({
    'aria-label': 'Actions for xn--bcher-kva.test',
    title: 'Actions for bücher.test (xn--bcher-kva.test)',
  });
});
