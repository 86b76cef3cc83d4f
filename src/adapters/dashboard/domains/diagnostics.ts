import * as v from 'valibot';
import {
  type CaaRecord,
  chainEnds,
  dnsFailures,
  andMore,
} from '../../../domains/domain/dns/facts.ts';
import type { KeptAnswer, KeptFacts } from '../../../domains/domain/dns/judgement.ts';
import {
  type DnsProblem,
  type DnsProblemCode,
  isBlocking,
  problemTitles,
} from '../../../domains/domain/dns/problem.ts';
import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import { isReadyAt, leadsAstray } from '../../../domains/domain/attachment/serving.ts';
import type { DescribedDomain } from '../../../domains/use-cases/show-domain.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import {
  badge,
  type Column,
  copyButton,
  counted,
  folded,
  table,
  time,
  type Tone,
} from '../frame/parts.ts';
import { isOnlyAwaited, progressOf } from './progress.ts';
import { zoneFile } from './records.ts';
import { actorWords, severityTones } from './words.ts';

export const problemCards = (
  { domain, problems, records }: Pick<DescribedDomain, 'domain' | 'problems' | 'records'>,
  now: Date,
): Html => {
  const isSpreading = domain.state === 'added' && progressOf(domain, now).actor === 'nobody';
  const toneOf = ({ code, severity }: DnsProblem): Tone =>
    isSpreading || isOnlyAwaited(domain, code) ? 'busy' : severityTones[severity];
  const moves = isReadyAt(domain, now) ? problems.filter(leadsAstray) : [];
  const others = problems.filter((one) => !moves.includes(one));
  const groups = [...Map.groupBy(others, ({ code }) => code)];
  return html`${moves.length > 0 && moveSection(moves, records)}
    ${
      groups.length > 0 &&
      html`<section class="stack" id="all-problems" aria-labelledby="problems">
        <h2 id="problems">Problems</h2>
        ${groups.map(([code, alike]) => problemCard(code, alike, { isSpreading, records, toneOf }))}
      </section>`
    }`;
};

/** Until the owner of a domain with a certificate moves it here, it is not a problem that its DNS leads elsewhere. */
const moveSection = (
  moves: readonly DnsProblem[],
  records: DescribedDomain['records'],
): Html => html`<section class="stack" id="move" aria-labelledby="your-change">
  <h2 id="your-change">Your DNS change</h2>
  <article class="card">
    ${comparison(moves, { records, titles: ['Now', 'After your change'], tone: 'idle' })}
    ${[...new Set(moves.map(({ fix }) => fix))].map((fix) => html`<p>${fix}</p>`)}
  </article>
</section>`;

interface Comparison {
  readonly records: DescribedDomain['records'];
  readonly titles: readonly [seen: string, wanted: string];
  readonly tone: Tone;
}

const comparison = (
  alike: readonly DnsProblem[],
  { records, titles: [before, after], tone }: Comparison,
): Html => {
  const wanted = new Map(alike.map((one) => [one.wanted, one.code]));
  return html`<dl class="columns compare">
    <div class="${tone}"><dt>${before}</dt>${alike.map(({ seen }) => html`<dd><code>${seen}</code></dd>`)}</div>
    <div class="good"><dt>${after}</dt>${[...wanted].map(([one, code]) => html`<dd class="copied"><code>${one}</code>${copyWanted(code, one, records)}</dd>`)}</div>
  </dl>`;
};

interface ShownProblems extends Pick<DescribedDomain, 'records'> {
  readonly isSpreading: boolean;
  readonly toneOf: (problem: DnsProblem) => Tone;
}

const problemCard = (
  code: DnsProblemCode,
  alike: readonly DnsProblem[],
  { isSpreading, records, toneOf }: ShownProblems,
): Html => {
  const [first] = alike;
  if (!first) return nothing;
  const tone = toneOf(first);
  return html`<article class="card problem ${tone}" id="problem-${code}">
    <div class="row">
      ${badge(first.severity, tone)}
      <h3>${problemTitles[code]}</h3>
      <code class="quiet">${code}</code>
    </div>
    ${comparison(alike, { records, titles: ['Seen', 'Wanted'], tone })}
    <p>${first.fix}</p>
    <p class="hint">${whoActs(first, isSpreading)}</p>
  </article>`;
};

const whoActs = (problem: DnsProblem, isSpreading: boolean): Html => {
  if (problem.actor === 'nobody') return html`Nothing to do: it resolves on its own.`;
  const actor = html`<strong>${actorWords[problem.actor]}</strong>`;
  return isSpreading && isBlocking(problem)
    ? html`Some resolvers already return the correct answer. If the change was just made, there is nothing to do. Otherwise, who acts: ${actor}`
    : html`Who acts: ${actor}`;
};

const copyWanted = (
  code: DnsProblemCode,
  wanted: string,
  records: DescribedDomain['records'],
): Html | false => {
  const record = records.find(({ value }) => wanted.includes(value));
  if (record) return copyButton(record.value, `the value of the ${record.type} record`);
  const isLine = code === 'caa_forbids_issuer' && !wanted.startsWith('no ');
  return isLine && copyButton(wanted, 'the CAA record');
};

export const resolverSection = (report: DnsReport | undefined, now: Date): Html => {
  if (!report || report.resolvers.length === 0) return nothing;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  return html`<section class="stack" aria-labelledby="resolvers">
    <h3 id="resolvers">DNS resolvers</h3>
    <p class="hint">${agreeing} of ${counted(report.resolvers.length, 'resolver')} ${agreeing === 1 ? 'returns' : 'return'} the correct answer; a majority is enough. Checked ${time(report.checkedAt, now)}.</p>
    ${report.probe !== undefined && html`<p class="hint">A wildcard has no address of its own, so we looked up a made-up name below it: <code>${report.probe}</code></p>`}
    ${resolverTable(report, now)}
  </section>`;
};

/** @param all whose records the page shows: the domain, and its partner if both are to be created */
export const diagnosticsSection = (
  { dns: { report } }: Pick<DescribedDomain['domain'], 'dns'>,
  all: readonly Pick<DescribedDomain, 'bind' | 'records'>[],
  now: Date,
): Html => {
  const bind = all.map((one) => one.bind).join('');
  const records = all.flatMap((one) => one.records);
  return folded(
    { id: 'diagnostics', title: 'Diagnostics' },
    html`${report ? resolverSection(report, now) : html`<p class="hint">The DNS was not checked yet.</p>`}
    <section class="stack" aria-labelledby="zone-file">
      <h3 id="zone-file">As lines of a zone file (BIND)</h3>
      ${zoneFile(bind, records)}
    </section>`,
  );
};

const resolverTable = ({ resolvers, checkedAt }: DnsReport, now: Date): Html =>
  table(inGroups(resolvers), [
    ['Resolver', 'bare', named],
    ['Answer', 'text', ([{ seen }]) => html`<code>${seen}</code>`],
    ['Correct', 'text', ([{ agrees }]) => (agrees ? badge('yes', 'good') : badge('no', 'bad'))],
    ['Cached until', 'text', (group) => cached(group, checkedAt, now)],
    ['Response time', 'number', slowest],
  ]);

type Group = readonly [ResolverSummary, ...ResolverSummary[]];

const inGroups = (resolvers: readonly ResolverSummary[]): readonly Group[] => {
  const [first, ...others] = resolvers;
  if (!first) return [];
  const isSame = others.every(({ seen, agrees }) => seen === first.seen && agrees === first.agrees);
  return isSame ? [[first, ...others]] : resolvers.map((one): Group => [one]);
};

const named = (group: Group): Html => {
  const names = group.map(({ resolver }) => html`<code>${resolver}</code> `);
  return group.length === 1
    ? html`${names}`
    : html`<div>All ${group.length} resolvers<br><span class="hint">${names}</span></div>`;
};

const slowest = (group: Group): string => {
  const most = Math.max(...group.map(({ tookMs }) => tookMs));
  return `${group.length > 1 ? 'up to ' : ''}${Math.round(most)} ms`;
};

const cached = (group: Group, checkedAt: Date, now: Date): Html => {
  const ttls = group.map(({ ttl }) => ttl).filter((ttl) => ttl !== undefined);
  if (ttls.length === 0) return html`<span class="quiet">unknown</span>`;
  const until = new Date(checkedAt.getTime() + Math.max(...ttls) * 1000);
  return until > now ? time(until, now) : html`<span class="quiet">expired</span>`;
};

const more = v.optional(v.number());

/** Parses the answers that a check stores for each resolver; see `KeptFacts`. */
const answerOf = <Item extends v.GenericSchema>(item: Item) =>
  v.variant('kind', [
    v.object({
      kind: v.literal('records'),
      records: v.array(item),
      ttl: v.optional(v.number()),
      more,
    }),
    v.object({ kind: v.literal('none') }),
    v.object({ kind: v.literal('no_such_name') }),
    v.object({ kind: v.literal('failed'), reason: v.picklist(dnsFailures) }),
  ]);

const name = answerOf(v.string());
const caaRecord = v.object({ flags: v.number(), tag: v.string(), value: v.string() });

const answers = v.array(
  v.object({
    resolver: v.string(),
    tookMs: v.number(),
    cname: name,
    chain: v.object({ names: v.array(v.string()), end: v.picklist(chainEnds), more }),
    a: name,
    aaaa: name,
    txt: name,
    sibling: name,
    delegation: v.optional(name),
    isZoneApex: v.boolean(),
    caa: v.array(v.object({ name: v.string(), answer: answerOf(caaRecord) })),
    zone: v.optional(v.object({ name: v.string(), nameServers: v.array(v.string()) })),
    unchecked: v.optional(
      v.object({
        question: v.string(),
        errors: v.array(v.object({ code: v.number(), text: v.string() })),
      }),
    ),
  }),
);

/** Shows all answers of a check by question. @param kept the answers as the timeline stores them */
export const answersTable = (kept: unknown): Html => {
  if (kept === undefined) return nothing;
  const read = v.safeParse(answers, kept);
  if (!read.success) return nothing;
  const resolvers: readonly KeptFacts[] = read.output;
  const columns = resolvers.map((one): Column<Question> => [
    one.resolver,
    'text',
    ([, answered]) => html`<code>${answered(one)}</code>`,
  ]);
  const all = table(
    questionsOf(resolvers),
    [['Question', 'row', ([question]) => question], ...columns],
    { look: 'tops' },
  );
  return html`<details><summary>Raw answers</summary>${all}</details>`;
};

type Question = readonly [question: string, answered: (one: KeptFacts) => string];

const questionsOf = (resolvers: readonly KeptFacts[]): readonly Question[] => {
  const levels = new Set(resolvers.flatMap(({ caa }) => caa.map(({ name: level }) => level)));
  return [
    ['CNAME', ({ cname }) => inText(cname)],
    ['CNAME chain', ({ chain }) => [...chain.names, ...leftOut(chain), chain.end].join(' → ')],
    ['A', ({ a }) => inText(a)],
    ['AAAA', ({ aaaa }) => inText(aaaa)],
    ['TXT (challenge)', ({ txt }) => inText(txt)],
    ...(resolvers.some(({ delegation }) => delegation)
      ? [
          [
            'CNAME (_acme-challenge)',
            ({ delegation }) => (delegation ? inText(delegation) : ''),
          ] as const satisfies Question,
        ]
      : []),
    ...[...levels].map((level): Question => [`CAA ${level}`, ({ caa }) => caaAt(caa, level)]),
    ...(resolvers.some(({ unchecked }) => unchecked)
      ? [
          [
            'Answered only without DNSSEC',
            ({ unchecked }) => (unchecked ? uncheckedText(unchecked) : 'no'),
          ] as const satisfies Question,
        ]
      : []),
    ['A made-up name beside it', ({ sibling }) => inText(sibling)],
    ...(resolvers.some(({ zone }) => zone)
      ? [
          [
            'Zone and its name servers',
            ({ zone }) => (zone ? `${zone.name}: ${zone.nameServers.join(', ')}` : 'not found'),
          ] as const satisfies Question,
        ]
      : []),
    ['SOA and NS at the name', ({ isZoneApex }) => (isZoneApex ? 'yes' : 'no')],
    ['Took', ({ tookMs }) => `${Math.round(tookMs)} ms`],
  ];
};

const caaAt = (levels: KeptFacts['caa'], level: string): string => {
  const found = levels.find(({ name: one }) => one === level);
  return found ? inText(found.answer, caaText) : 'not asked';
};

const caaText = ({ flags, tag, value }: CaaRecord): string =>
  `${flags} ${tag} ${JSON.stringify(value)}`;

const uncheckedText = ({ question, errors }: NonNullable<KeptFacts['unchecked']>): string =>
  [question, ...errors.map(({ code, text }) => `extended error ${code} ${text}`)].join('; ');

const inText = <Item = string>(
  answer: KeptAnswer<Item>,
  textOf: (record: Item) => string = String,
): string => {
  switch (answer.kind) {
    case 'records': {
      const ttl = answer.ttl === undefined ? '' : ` (TTL ${answer.ttl})`;
      return `${[...answer.records.map(textOf), ...leftOut(answer)].join(', ')}${ttl}`;
    }
    case 'none':
      return 'none';
    case 'no_such_name':
      return 'no such name';
    case 'failed':
      return answer.reason;
  }
};

const leftOut = ({ more: count }: { readonly more?: number | undefined }): readonly string[] =>
  count === undefined ? [] : [andMore(count)];
