import { removeDomain, type CustomDomain } from './domain/attachment/custom-domain.ts';
import { hostMeant } from './domain/names/hostname.ts';
import { domainNotFound } from './domain/domains-error.ts';
import type { DomainListing, DomainPorts } from './ports.ts';
import { addCustomDomain, addDomainPair, showOther } from './use-cases/add-domain.ts';
import { checkPlatform } from './use-cases/check-platform.ts';
import { countDomains } from './use-cases/count-domains.ts';
import {
  adoptPrimary,
  changeDomainSettings,
  choosePrimary,
  editDomainSettings,
  showDomainSettings,
} from './use-cases/domain-settings.ts';
import { endDomains, followProject } from './use-cases/follow-project.ts';
import { planRenewals } from './use-cases/plan-renewals.ts';
import {
  readWholeTimeline,
  makeShare,
  revokeShare,
  showShared,
  showDomain,
  describeDomain,
  showHolds,
} from './use-cases/show-domain.ts';
import {
  forgetOwnNames,
  secureSites,
  sitesDueAt,
  hasPlatformCertificate,
  showOwnHold,
} from './use-cases/secure-sites.ts';
import { tendDomain, verifyDomain } from './use-cases/tend-domain.ts';

/** Domain names contain no underscores. */
const domainIdPrefix = 'dom_';

export const domains = (ports: DomainPorts) => ({
  addDomain: addCustomDomain(ports),
  addPair: addDomainPair(ports),
  showOther: showOther(ports),
  listDomains: (projectId: string) => ports.domains.list(projectId),
  /** @param text part of a name, as U-labels or A-labels */
  searchDomains: (accountId: string, text: string, limit: number) =>
    ports.domains.listNamed(accountId, text.toLowerCase(), limit),
  listDomainPage: (projectId: string, listing: DomainListing) =>
    ports.domains.listPage(projectId, { ...listing, text: listing.text.toLowerCase() }),
  showOverview: (accountId: string, most: number) => ports.domains.overview(accountId, most),
  countListed: (projectId: string) => ports.domains.countListed(projectId),
  /** Finds a domain by id, or the newest attachment of a name. @throws DomainError `domain_not_found` */
  getDomain: async (projectId: string, key: string): Promise<CustomDomain> => {
    const domain = await (key.startsWith(domainIdPrefix)
      ? ports.domains.get(key)
      : ports.domains.find(
          projectId,
          hostMeant(key, (one) => ports.hostNames.read(one)),
        ));
    if (domain?.projectId !== projectId) throw domainNotFound(key);
    return domain;
  },
  findPartner: async ({ projectId, host }: CustomDomain): Promise<CustomDomain | undefined> => {
    const other = showOther(ports)(host);
    const found = other && (await ports.domains.find(projectId, other.host));
    return found?.state === 'removed' ? undefined : found;
  },
  secureSites: secureSites(ports),
  sitesDueAt: sitesDueAt(ports),
  forgetOwnNames: forgetOwnNames(ports),
  hasPlatformCertificate: hasPlatformCertificate(ports),
  showOwnHold: showOwnHold(ports),
  checkPlatform: checkPlatform(ports),
  showDomain: showDomain(ports),
  describeDomain: describeDomain(ports),
  showHolds: showHolds(ports),
  listShares: (domain: CustomDomain) => ports.shares.list(domain, ports.clock.now()),
  makeShare: makeShare(ports),
  revokeShare: revokeShare(ports),
  showShared: showShared(ports),
  readWholeTimeline: readWholeTimeline(ports),
  verifyDomain: verifyDomain(ports),
  /** On return, this process's edges no longer serve the domain. Other edges follow within a second. */
  removeDomain: async ({ id }: CustomDomain): Promise<CustomDomain> => {
    const remove = (one: CustomDomain) => removeDomain(one, 'owner', ports.clock.now());
    return (await ports.domains.change(id, remove)).state;
  },
  followProject: followProject(ports),
  endDomains: endDomains(ports),
  tendDomain: tendDomain(ports),
  planRenewals: planRenewals(ports),
  countDomains: countDomains(ports),
  showDomainSettings: showDomainSettings(ports),
  adoptPrimary: adoptPrimary(ports),
  changeDomainSettings: changeDomainSettings(ports),
  editDomainSettings: editDomainSettings(ports),
  choosePrimary: choosePrimary(ports),
});

export type Domains = ReturnType<typeof domains>;
