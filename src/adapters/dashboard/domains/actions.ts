import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import { isSpreading } from '../../../domains/domain/attachment/due-work.ts';
import { isReadyAt, isVisited, leadsAstray } from '../../../domains/domain/attachment/serving.ts';
import { isBlocking } from '../../../domains/domain/dns/problem.ts';
import { reverifyAllowedAt, verifyAllowedAt } from '../../../domains/domain/attachment/checks.ts';
import { DomainError } from '../../../kernel/decision.ts';
import type { DomainRole } from '../../../domains/use-cases/domain-settings.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { rowMenu } from '../frame/list-parts.ts';
import { time } from '../frame/parts.ts';
import { queryText } from '../frame/paths.ts';
import { bareForm, type Form, type Refusal, type Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { domainOf, domainPath, placeOf, redirectsPath, settingPath } from './paths.ts';
import { shownName } from './words.ts';

export interface VerifyOptions {
  readonly action: string;
  readonly visit: Pick<Visit, 'now' | 'may'>;
  readonly refusal: Refusal | undefined;
  readonly isInList?: boolean;
}

const verifyAnchor = ({ id }: Pick<CustomDomain, 'id'>): string => `verify-${id}`;

export const verifyForm = (domain: CustomDomain, options: VerifyOptions): Html => {
  const { action, refusal, isInList = false } = options;
  const { now, may } = options.visit;
  const button = may('domain.verify') && buttonOf(domain, now, isInList);
  if (!button) return nothing;
  const { label, readyAt } = button;
  const anchor = verifyAnchor(domain);
  const waits = readyAt > now;
  const tells = waits && !refusal;
  // The button stays enabled during a long wait, and pressing it explains the wait.
  const isShort = readyAt.getTime() - now.getTime() < 60_000;
  const isMain = !isInList && label !== 'Check DNS' && (isShort || !waits);
  return html`<form method="post" action="${action}" class="row verify" id="${anchor}">
    <button ${isMain && html`class="main"`} title="${label} ${nameInText(domain)}"
      ${tells && html`aria-describedby="${anchor}-when"`} ${waits && isShort && html`data-ready-at="${readyAt.toISOString()}"`}>${label}</button>
    ${tells && html`<span class="hint" id="${anchor}-when" data-until="${readyAt.toISOString()}">available ${time(readyAt, now)}</span>`}
    ${refusal?.message !== undefined && html`<p class="error" role="alert" data-refusal>${refusal.message}</p>`}
  </form>`;
};

const buttonOf = (domain: CustomDomain, now: Date, isInList: boolean) => {
  switch (domain.state) {
    case 'added':
      return { label: 'Verify', readyAt: verifyAllowedAt(domain, now) };
    case 'verified':
      return { label: 'Re-verify', readyAt: reverifyAllowedAt(domain, now) };
    case 'live':
      return isInList ? undefined : { label: 'Check DNS', readyAt: verifyAllowedAt(domain, now) };
    case 'removed':
      return undefined;
  }
};

export const domainMenu = (
  domain: CustomDomain,
  { isPrimary }: DomainRole,
  slug: string,
  { may, query }: Pick<Visit, 'may' | 'query'>,
): Html => {
  const { id, host, unicodeHost, state } = domain;
  if (state === 'removed') return nothing;
  const mayConfigure = may('domain.configure');
  // Programs and screen readers use the A-labels; people read the U-labels.
  const title = host === unicodeHost ? undefined : nameInText(domain);
  return rowMenu({ id, about: host, title }, [
    mayConfigure &&
      isVisited(domain) &&
      !isPrimary && {
        label: 'Make primary',
        action: settingPath(slug, 'primary-domain'),
        fields: { primary: host },
      },
    mayConfigure &&
      !isPrimary && {
        label: 'Redirect …',
        to: `${redirectsPath(slug)}${queryText({ from: host })}`,
      },
    may('domain.remove') && {
      label: 'Remove',
      to: `${domainPath(slug, id)}/remove${placeOf(query)}`,
      ends: true,
    },
  ]);
};

/** Notices that stay true, by the codes of `afterVerify`. `noticeAfter` shows the other notices. */
export const verifyNotices = {
  checked: 'The DNS was checked: all records are correct.',
};

export const verifyIfPossible = async (
  { domains }: Pick<DashboardPorts, 'domains'>,
  domain: CustomDomain,
): Promise<void> => {
  try {
    await domains.verifyDomain(domain);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
};

/** Verifies a domain, and its partner if the page shows both. @param to the page that shows the result */
export const verification = (
  ports: DashboardPorts,
  path: string,
  to: (project: Project, domain: CustomDomain, visit: Visit) => string,
): Form =>
  bareForm({
    name: 'verify',
    operation: 'domain.verify',
    path,
    act: async (visit) => {
      const { project, domain } = await domainOf(ports, visit);
      const verified = await ports.domains.verifyDomain(domain);
      const partner = domain.state === 'added' && (await ports.domains.findPartner(domain));
      if (partner && partner.state === 'added') await verifyIfPossible(ports, partner);
      return { to: to(project, domain, visit), done: afterVerify(domain, verified) };
    },
  });

const afterVerify = (before: CustomDomain, after: CustomDomain): string => {
  if (before.state === 'verified') return 'reverified';
  if (before.state === 'added' && after.state !== 'added') return 'verified';
  return after.dns.report?.verifiable ? 'checked' : 'not-yet';
};

/**
 * Shows the notice after an action while it is still true.
 * @param path of the domain's page, if the notice is on another one
 */
export const noticeAfter = (
  { query, now }: Pick<Visit, 'query' | 'now'>,
  domain: CustomDomain | undefined,
  path = '',
): Html => {
  const done = query.get('done') ?? '';
  const said = domain && words.get(done)?.[domain.state];
  if (said !== undefined) return html`<p class="notice good" role="status">${said}</p>`;
  if (done !== 'not-yet' || domain?.dns.report?.verifiable !== false) return nothing;
  if (domain.state === 'added' && isSpreading(domain.dns.report)) {
    return html`<p class="notice busy" role="status">The DNS of ${shownName(domain)} was checked. Not all resolvers see the change yet; we keep checking automatically.</p>`;
  }
  const blocking = domain.dns.report.problems.filter(isBlocking);
  if (isReadyAt(domain, now) && blocking.every(leadsAstray)) return notMovedYet;
  return html`<p class="notice busy" role="status">The DNS of ${shownName(domain)} was checked and is not correct yet. <a href="${path}#problems">See what to change</a>; we keep checking automatically.</p>`;
};

const notMovedYet = html`<p class="notice good" role="status">The DNS was checked: it does not lead here yet, and the certificate is ready for when it does.</p>`;

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
