import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, counted, time } from '../frame/parts.ts';
import { table } from '../frame/table.ts';

export const resolverSection = (report: DnsReport | undefined, now: Date): Html => {
  if (!report || report.resolvers.length === 0) return nothing;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  return html`<section class="card" id="all-resolvers" aria-labelledby="resolvers">
    <h2 id="resolvers">DNS resolvers</h2>
    <p class="hint">${agreeing} of ${counted(report.resolvers.length, 'resolver')} ${agreeing === 1 ? 'returns' : 'return'} the correct answer; a majority is enough. Checked ${time(report.checkedAt, now)}.</p>
    ${report.probe !== undefined && html`<p class="hint">A wildcard has no address of its own, so we looked up a made-up name below it: <code>${report.probe}</code></p>`}
    ${resolverTable(report, now)}
  </section>`;
};

/** The answer of each resolver: a change is complete only when no resolver has the old answer cached. */
const resolverTable = ({ resolvers, checkedAt }: DnsReport, now: Date): Html =>
  table(inGroups(resolvers), [
    ['Resolver', 'bare', named],
    ['Answer', 'text', ([{ seen }]) => html`<code>${seen}</code>`],
    ['Correct', 'text', ([{ agrees }]) => (agrees ? badge('yes', 'good') : badge('no', 'bad'))],
    ['Cached until', 'text', (group) => cached(group, checkedAt, now)],
    ['Response time', 'number', slowest],
  ]);

type Group = readonly [ResolverSummary, ...ResolverSummary[]];

/** Where all answer the same, saying it once is enough. */
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
