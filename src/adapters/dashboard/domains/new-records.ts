import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { projectHostsOf } from '../../../domains/domain/attachment/serving.ts';
import { bindSnippet } from '../../../domains/domain/dns/records.ts';
import { hindranceTo } from '../../../domains/domain/redirects/redirects.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import type { DescribedDomain } from '../../../domains/use-cases/show-domain.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { verifyAnchor } from './actions.ts';
import { domainPath } from './paths.ts';
import { contestNote, hintList, newRecord, zoneFile, zoneName } from './records.ts';
import { shownName } from './words.ts';

interface Options {
  readonly slug: string;
  readonly note: Html;
}

/** The records to create for what was just added: for one domain, or for the two of a pair side by side. */
export const newRecords = (views: readonly DescribedDomain[], { slug, note }: Options): Html => {
  const [first] = views;
  if (!first) return nothing;
  const { registrableDomain } = first.domain;
  const records = views.flatMap((view) => view.records);
  const hints = new Set(views.flatMap((view) => view.hints));
  const isPair = views.length > 1;
  return html`<section class="card" id="records-to-create" aria-labelledby="new-records">
    <h2 id="new-records">Records to create for ${views.map(({ domain }, at) => html`${at > 0 && ' and '}${shownName(domain)}`)}</h2>
    <p class="hint">Create them at the DNS provider of ${zoneName(registrableDomain)}. Then ${verification(views)}, or wait: we check automatically, and ${progress(views, slug)}.</p>
    ${note}
    ${views.map(contestNote)}
    <div class="columns">${views.map((view) => html`<div class="stack">${isPair && html`<h3>${shownName(view.domain)}</h3>`}${view.records.map(newRecord)}</div>`)}</div>
    <h3>As lines of a zone file (BIND)</h3>
    ${zoneFile(bindSnippet(records, registrableDomain), records)}
    <h3>Good to know</h3>
    ${hintList([...hints])}
  </section>`;
};

const verification = (views: readonly DescribedDomain[]): Html =>
  views.length > 1
    ? html`verify both domains below`
    : html`${views.map(({ domain }) => html`<a href="#${verifyAnchor(domain)}">verify the domain below</a>`)}`;

const progress = (views: readonly DescribedDomain[], slug: string): Html =>
  views.length > 1
    ? html`the list shows the progress`
    : html`${views.map(({ domain }) => html`<a href="${domainPath(slug, domain.host)}">its page</a>`)} shows the progress`;

export interface PairedProject {
  readonly view: DomainSettingsView;
  readonly attached: readonly CustomDomain[];
}

export const pairNote = (
  typed: CustomDomain,
  other: CustomDomain,
  { view, attached }: PairedProject,
): Html => {
  const { domains } = view.document;
  for (const [from, to] of [
    [other, typed],
    [typed, other],
  ] as const) {
    if (!domains.redirects.some((one) => one.from === from.host && one.to === to.host)) continue;
    return html`<p class="hint">${shownName(from)} redirects to ${shownName(to)} <a href="#all-redirects">as soon as both are live</a>. Until then, a live one shows the site.</p>`;
  }
  const redirect = { from: other.host, to: typed.host };
  const why = hindranceTo(redirect, domains, { hosts: projectHostsOf(attached) });
  return why === undefined
    ? nothing
    : html`<p class="notice busy">${shownName(other)} does not redirect to ${shownName(typed)}: ${why} Both show the site once they are live.</p>`;
};
