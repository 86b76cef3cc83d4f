import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, counted, time } from '../frame/parts.ts';

/** The answers of the last check. */
export const resolverSection = (report: DnsReport | undefined, now: Date): Html => {
  if (!report || report.resolvers.length === 0) return nothing;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  return html`<section class="card" id="all-resolvers" aria-labelledby="resolvers">
    <h2 id="resolvers">DNS resolvers</h2>
    <p class="quiet">${agreeing} of ${counted(report.resolvers.length, 'resolver')} ${agreeing === 1 ? 'returns' : 'return'} the correct answer; a majority is enough. Checked ${time(report.checkedAt, now)}.</p>
    ${resolverTable(report, now)}
  </section>`;
};

/** The answer of each resolver: a change is complete only when no resolver has the old answer cached. */
const resolverTable = ({ resolvers, checkedAt }: DnsReport, now: Date): Html =>
  html`<div class="table">
    <table class="cards-on-phone">
      <thead><tr><th scope="col">Resolver</th><th scope="col">Answer</th><th scope="col">Correct</th><th scope="col">Cached until</th><th scope="col" class="number">Response time</th></tr></thead>
      <tbody>${inGroups(resolvers).map((group) => resolverRow(group, checkedAt, now))}</tbody>
    </table>
  </div>`;

type Group = readonly [ResolverSummary, ...ResolverSummary[]];

/** Where all answer the same, saying it once is enough. */
const inGroups = (resolvers: readonly ResolverSummary[]): readonly Group[] => {
  const [first, ...others] = resolvers;
  if (!first) return [];
  const isSame = others.every(({ seen, agrees }) => seen === first.seen && agrees === first.agrees);
  return isSame ? [[first, ...others]] : resolvers.map((one): Group => [one]);
};

const resolverRow = (group: Group, checkedAt: Date, now: Date): Html => {
  const [{ resolver, seen, agrees }, ...others] = group;
  const named = group.map((one) => html`<code>${one.resolver}</code> `);
  const ttls = group.map(({ ttl }) => ttl).filter((ttl) => ttl !== undefined);
  const slowest = Math.max(...group.map(({ tookMs }) => tookMs));
  return html`<tr>
    <td data-label="Resolver">${others.length === 0 ? html`<code>${resolver}</code>` : html`<div>All ${group.length} resolvers<br><span class="hint">${named}</span></div>`}</td>
    <td data-label="Answer"><code class="seen">${seen}</code></td>
    <td data-label="Correct">${agrees ? badge('yes', 'good') : badge('no', 'bad')}</td>
    <td data-label="Cached until">${cached(ttls, checkedAt, now)}</td>
    <td data-label="Response time" class="number">${others.length > 0 && 'up to '}${Math.round(slowest)} ms</td>
  </tr>`;
};

/** @param ttls in seconds, as far as they are known */
const cached = (ttls: readonly number[], checkedAt: Date, now: Date): Html => {
  if (ttls.length === 0) return html`<span class="quiet">unknown</span>`;
  const until = new Date(checkedAt.getTime() + Math.max(...ttls) * 1000);
  return until > now ? time(until, now) : html`<span class="quiet">expired</span>`;
};
