import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { projectHostsOf } from '../../../domains/domain/attachment/serving.ts';
import { hindranceTo } from '../../../domains/domain/redirects/redirects.ts';
import type { DomainSettingsView } from '../../../domains/use-cases/domain-settings.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { redirectsPath } from './paths.ts';
import { shownName } from './words.ts';

interface PairedProject {
  readonly slug: string;
  readonly view: DomainSettingsView;
  readonly attached: readonly CustomDomain[];
}

export const pairNote = (
  typed: CustomDomain,
  other: CustomDomain,
  { slug, view, attached }: PairedProject,
): Html => {
  const { domains } = view.document;
  for (const [from, to] of [
    [other, typed],
    [typed, other],
  ] as const) {
    if (!domains.redirects.some((one) => one.from === from.host && one.to === to.host)) continue;
    return html`<p class="hint">${shownName(from)} redirects to ${shownName(to)} <a href="${redirectsPath(slug)}">as soon as both are live</a>. Until then, a live one shows the site.</p>`;
  }
  const redirect = { from: other.host, to: typed.host };
  const why = hindranceTo(redirect, domains, { hosts: projectHostsOf(attached) });
  return why === undefined
    ? nothing
    : html`<p class="notice busy">${shownName(other)} does not redirect to ${shownName(typed)}: ${why} Both show the site once they are live.</p>`;
};
