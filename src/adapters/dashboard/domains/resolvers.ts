import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, counted, time } from '../frame/parts.ts';
import { table, type Row } from '../frame/table.ts';

/** The answers of the last check. */
export const resolverSection = (report: DnsReport | undefined, now: Date): Html => {
  if (!report || report.resolvers.length === 0) return nothing;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  return html`<section class="card" id="all-resolvers" aria-labelledby="resolvers">
    <h2 id="resolvers">DNS resolvers</h2>
    <p class="hint">${agreeing} of ${counted(report.resolvers.length, 'resolver')} ${agreeing === 1 ? 'returns' : 'return'} the correct answer; a majority is enough. Checked ${time(report.checkedAt, now)}.</p>
    ${resolverTable(report, now)}
  </section>`;
};

/** The answer of each resolver: a change is complete only when no resolver has the old answer cached. */
const resolverTable = ({ resolvers, checkedAt }: DnsReport, now: Date): Html =>
  table(
    columns,
    inGroups(resolvers).map((group) => resolverRow(group, checkedAt, now)),
  );

const columns = {
  Resolver: 'text',
  Answer: 'text',
  Correct: 'text',
  'Cached until': 'text',
  'Response time': 'number',
} as const;

type Group = readonly [ResolverSummary, ...ResolverSummary[]];

/** Where all answer the same, saying it once is enough. */
const inGroups = (resolvers: readonly ResolverSummary[]): readonly Group[] => {
  const [first, ...others] = resolvers;
  if (!first) return [];
  const isSame = others.every(({ seen, agrees }) => seen === first.seen && agrees === first.agrees);
  return isSame ? [[first, ...others]] : resolvers.map((one): Group => [one]);
};

const resolverRow = (group: Group, checkedAt: Date, now: Date): Row<keyof typeof columns> => {
  const [{ resolver, seen, agrees }, ...others] = group;
  const named = group.map((one) => html`<code>${one.resolver}</code> `);
  const ttls = group.map(({ ttl }) => ttl).filter((ttl) => ttl !== undefined);
  const slowest = Math.max(...group.map(({ tookMs }) => tookMs));
  return {
    cells: {
      Resolver:
        others.length === 0
          ? html`<code>${resolver}</code>`
          : html`<div>All ${group.length} resolvers<br><span class="hint">${named}</span></div>`,
      Answer: html`<code>${seen}</code>`,
      Correct: agrees ? badge('yes', 'good') : badge('no', 'bad'),
      'Cached until': cached(ttls, checkedAt, now),
      'Response time': `${others.length > 0 ? 'up to ' : ''}${Math.round(slowest)} ms`,
    },
  };
};

/** @param ttls in seconds, as far as they are known */
const cached = (ttls: readonly number[], checkedAt: Date, now: Date): Html => {
  if (ttls.length === 0) return html`<span class="quiet">unknown</span>`;
  const until = new Date(checkedAt.getTime() + Math.max(...ttls) * 1000);
  return until > now ? time(until, now) : html`<span class="quiet">expired</span>`;
};
