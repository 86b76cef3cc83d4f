import {
  isBlocking,
  problemTitles,
  type DnsProblem,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import type { DescribedDomain } from '../../../domains/use-cases/show-domain.ts';
import { progressOf } from './progress.ts';
import { actorWords, severityTones } from './words.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, copyButton } from '../frame/parts.ts';

/** Each problem as a card: severity, what was seen, what is expected, who must act, and how. */
export const problemCards = (
  { domain, problems, records }: Pick<DescribedDomain, 'domain' | 'problems' | 'records'>,
  now: Date,
): Html => {
  if (problems.length === 0) return nothing;
  const isSpreading = domain.state === 'added' && progressOf(domain, now).actor === 'nobody';
  const groups = [...Map.groupBy(problems, ({ code }) => code)];
  return html`<section class="stack" id="all-problems" aria-labelledby="problems">
    <h2 id="problems">Problems</h2>
    ${groups.map(([code, alike]) => problemCard(code, alike, { isSpreading, records }))}
  </section>`;
};

/** Merges problems that differ only in the resolver. */
const problemCard = (
  code: DnsProblemCode,
  alike: readonly DnsProblem[],
  { isSpreading, records }: Pick<DescribedDomain, 'records'> & { readonly isSpreading: boolean },
): Html => {
  const [first] = alike;
  if (!first) return nothing;
  const wanted = new Set(alike.map((one) => one.wanted));
  return html`<article class="card problem ${severityTones[first.severity]}" id="problem-${code}">
    <div class="row">
      ${badge(first.severity, severityTones[first.severity])}
      <h3>${problemTitles[code]}</h3>
      <code class="quiet">${code}</code>
    </div>
    <dl class="columns compare">
      <div class="bad"><dt>Seen</dt>${alike.map(({ seen }) => html`<dd><code>${seen}</code></dd>`)}</div>
      <div class="good"><dt>Wanted</dt>${[...wanted].map((one) => html`<dd class="copied"><code>${one}</code>${copyWanted(code, one, records)}</dd>`)}</div>
    </dl>
    <p>${first.fix}</p>
    <p class="hint">${whoActs(first, isSpreading)}</p>
  </article>`;
};

const whoActs = (problem: DnsProblem, isSpreading: boolean): Html => {
  if (problem.actor === 'nobody') return html`Nothing to do: it resolves on its own.`;
  const isNew = isSpreading && isBlocking(problem);
  return html`Who acts: <strong>${actorWords[problem.actor]}</strong>${isNew && ', if you have not done so just now: some resolvers already return the correct answer'}`;
};

/** The text to copy: the value of the record, or a whole CAA line. */
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
