import type { DnsReport, ResolverSummary } from '../../sites/domain/dns-report.ts';
import { html, nothing, type Html } from './html.ts';
import { badge, counted, time } from './parts.ts';

/** What was seen at the last look. */
export const resolverSection = (report: DnsReport | undefined, now: Date): Html => {
  if (!report || report.resolvers.length === 0) return nothing;
  const agreeing = report.resolvers.filter(({ agrees }) => agrees).length;
  return html`<section class="card" aria-labelledby="resolvers">
    <h2 id="resolvers">What resolvers see</h2>
    <p class="quiet">${agreeing} of ${counted(report.resolvers.length, 'resolver')} see it as it has to be; more than half are enough. Looked at ${time(report.checkedAt, now)}.</p>
    ${resolverTable(report, now)}
  </section>`;
};

/** Who sees what: a change is in force for everybody only when all resolvers have forgotten the old answer. */
const resolverTable = ({ resolvers, checkedAt }: DnsReport, now: Date): Html =>
  html`<div class="table">
    <table class="cards-on-phone">
      <thead><tr><th scope="col">Resolver</th><th scope="col">What it sees</th><th scope="col">As wanted</th><th scope="col">Forgets it</th><th scope="col" class="number">Took</th></tr></thead>
      <tbody>${resolvers.map((one) => resolverRow(one, checkedAt, now))}</tbody>
    </table>
  </div>`;

const resolverRow = (
  { resolver, seen, agrees, ttl, tookMs }: ResolverSummary,
  checkedAt: Date,
  now: Date,
): Html =>
  html`<tr>
    <td data-label="Resolver"><code>${resolver}</code></td>
    <td data-label="What it sees"><code class="seen">${seen}</code></td>
    <td data-label="As wanted">${agrees ? badge('yes', 'good') : badge('no', 'bad')}</td>
    <td data-label="Forgets it">${memory(ttl, checkedAt, now)}</td>
    <td data-label="Took" class="number">${Math.round(tookMs)} ms</td>
  </tr>`;

const memory = (ttl: number | undefined, checkedAt: Date, now: Date): Html => {
  if (ttl === undefined) return html`<span class="quiet">not told</span>`;
  const until = new Date(checkedAt.getTime() + ttl * 1000);
  return until > now ? time(until, now) : html`<span class="quiet">by now</span>`;
};
