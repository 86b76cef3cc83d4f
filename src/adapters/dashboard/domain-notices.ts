import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { leftRecords } from './domain-left-records.ts';
import { shownName } from './domain-words.ts';
import { html, nothing, type Html } from './html.ts';

/** By the codes of `afterVerify`. */
export const verifyNotices = {
  verified: 'The DNS is correct. The domain is verified, and its certificate has been ordered.',
  reverified: 'A new attempt to issue the certificate has started.',
  checked: 'The DNS was checked: all records are correct.',
};

/** @returns what the page says after the button was pressed */
export const afterVerify = (before: CustomDomain, after: CustomDomain): string => {
  if (before.state === 'verified') return 'reverified';
  if (before.state === 'added' && after.state !== 'added') return 'verified';
  return after.dns.report?.verifiable ? 'checked' : 'not-yet';
};

/** Nothing to be glad of, so it does not look like it; and it goes as soon as the DNS is right. */
export const notYet = (query: URLSearchParams, domain: CustomDomain | undefined): Html =>
  query.get('done') === 'not-yet' && domain?.dns.report?.verifiable === false
    ? html`<p class="asked" role="status">The DNS of ${shownName(domain)} was checked and is not correct yet. See the problem below; we keep checking automatically.</p>`
    : nothing;

/** What is left to do for somebody who just removed a domain. */
export const afterRemoval = (
  removed: readonly CustomDomain[],
  query: URLSearchParams,
  platformHost: string,
): Html => {
  const domain = removed.find(({ host }) => host === query.get('host'));
  if (query.get('done') !== 'removed' || !domain) return nothing;
  return html`<div class="notice" role="status">
    <p>${shownName(domain)} is removed, and nothing is served under it any more. Now delete its records at your DNS provider:</p>
    ${leftRecords(domain, platformHost)}
  </div>`;
};
