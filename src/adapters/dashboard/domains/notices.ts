import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { bareForm, type Form, type Visit } from '../frame/screen.ts';
import { domainOf } from './paths.ts';
import { leftRecords } from './left-records.ts';
import { shownName } from './words.ts';
import { html, nothing, type Html } from '../frame/html.ts';

/** By the codes of `afterVerify`: what stays true. The others are said by `afterwards`. */
export const verifyNotices = {
  checked: 'The DNS was checked: all records are correct.',
};

/** The form that verifies a domain. @param to the page that says what came of it */
export const verification = (
  ports: DashboardPorts,
  path: string,
  to: (project: Project, domain: CustomDomain, visit: Visit) => string,
): Form =>
  bareForm({
    name: 'verify',
    path,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      const verified = await ports.domains.verifyDomain(domain);
      return { to: to(project, domain, visit), done: afterVerify(domain, verified) };
    },
  });

const afterVerify = (before: CustomDomain, after: CustomDomain): string => {
  if (before.state === 'verified') return 'reverified';
  if (before.state === 'added' && after.state !== 'added') return 'verified';
  return after.dns.report?.verifiable ? 'checked' : 'not-yet';
};

/**
 * The notice after an action, shown for as long as it is true.
 * @param path of the domain's own page, where that is another one
 */
export const afterwards = (
  query: URLSearchParams,
  domain: CustomDomain | undefined,
  path = '',
): Html => {
  const done = query.get('done') ?? '';
  const said = domain && words.get(done)?.[domain.state];
  if (said !== undefined) return html`<p class="notice good" role="status">${said}</p>`;
  if (done !== 'not-yet' || domain?.dns.report?.verifiable !== false) return nothing;
  return html`<p class="notice busy" role="status">The DNS of ${shownName(domain)} was checked and is not correct yet. <a href="${path}#problems">See what to change</a>; we keep checking automatically.</p>`;
};

/** By what was done and the state, as long as the words are true. */
const words: ReadonlyMap<
  string,
  Readonly<Partial<Record<CustomDomain['state'], string>>>
> = new Map([
  ['added', { added: 'Added. Create the records below; we check for them automatically.' }],
  [
    'verified',
    {
      live: 'The DNS is correct. The domain is verified and live.',
      verified: 'The DNS is correct. The domain is verified, and its certificate has been ordered.',
    },
  ],
  ['reverified', { verified: 'A new attempt to issue the certificate has started.' }],
]);

/** What the owner still has to do after removing a domain. */
export const afterRemoval = (
  removed: readonly CustomDomain[],
  query: URLSearchParams,
  zones: RecordZones,
): Html => {
  const domain = removed.find(({ host }) => host === query.get('host'));
  if (query.get('done') !== 'removed' || !domain) return nothing;
  return html`<div class="notice good" data-said role="status">
    <p>${shownName(domain)} is removed, and nothing is served under it any more. Now delete its records at your DNS provider:</p>
    ${leftRecords(domain, zones)}
  </div>`;
};
