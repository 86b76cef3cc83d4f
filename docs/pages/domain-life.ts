import { planAllowances } from '../../src/sites/domain/project.ts';
import {
  addDomain,
  removeDomain,
  type CustomDomain,
  longestWaitForDnsMs,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import type { DnsReport } from '../../src/domains/domain/dns/report.ts';
import { domainAfter, workOf } from '../../src/domains/domain/attachment/domain-certificate.ts';
import {
  planned,
  type IssuedCertificate,
} from '../../src/domains/domain/certificates/certificate-status.ts';
import { recordCheck, reverify, verify } from '../../src/domains/domain/attachment/checks.ts';
import { contestedBy } from '../../src/domains/domain/attachment/contested-name.ts';

const at = new Date(0);
const moment = { now: at, jitter: 0 };
const tooLate = new Date(longestWaitForDnsMs);

const hostname = {
  host: 'shop.example.com',
  unicode: 'shop.example.com',
  labels: 'shop',
  registrableDomain: 'example.com',
  isApex: false,
};

const added = (id: string): CustomDomain =>
  addDomain(
    { id, accountId: '', projectId: '', token: `t-${id}`, hostname },
    {
      allowance: planAllowances.pro,
      current: 0,
      addedLately: [],
      hasSucceededDeploy: true,
      provenElsewhere: undefined,
      attachedTo: undefined,
    },
    moment,
  ).state;

const right: DnsReport = {
  checkedAt: at,
  problems: [],
  resolvers: [],
  isApex: false,
  ownershipRequired: false,
  ownershipProven: true,
  pointsHere: true,
  mayIssue: [],
  verifiable: true,
};
const wrong: DnsReport = {
  ...right,
  checkedAt: tooLate,
  ownershipProven: false,
  verifiable: false,
};

const certificate: IssuedCertificate = {
  ...{ kind: 'issued', notBefore: at, notAfter: tooLate, work: planned(tooLate) },
  ...{ askRenewalAt: undefined, issuedBy: '', hasWindow: false },
};

const certified = (domain: CustomDomain): CustomDomain => {
  const work = workOf(domain);
  const brought = { notAfter: tooLate, isRenewal: false, authority: '' };
  const outcome = { kind: 'issued', ...brought } as const;
  return domainAfter(domain, { ...(work && { work: { ...work, certificate } }), outcome }, at)
    .state;
};

const verified = (id: string): CustomDomain => verify(added(id), right, moment).state;

const domainIn = (state: CustomDomain['state']): CustomDomain => {
  switch (state) {
    case 'added':
      return added('dom_1');
    case 'verified':
      return verified('dom_1');
    case 'live':
      return certified(verified('dom_1'));
    case 'removed':
      return removeDomain(added('dom_1'), 'owner', at).state;
  }
};

/** As `verifyDomain` chooses between the two. */
const onVerify = (domain: CustomDomain): CustomDomain =>
  domain.state === 'verified'
    ? reverify(domain, tooLate).state
    : verify(domain, right, moment).state;

const after =
  (command: (domain: CustomDomain) => CustomDomain) =>
  (from: CustomDomain['state']): CustomDomain['state'] =>
    command(domainIn(from)).state;

/** What becomes of a custom domain in each state, by what happens to it. */
export const domainCommands = {
  verify: after(onVerify),
  certificate: after(certified),
  remove: after((domain) => removeDomain(domain, 'owner', at).state),
  contest: after((domain) => contestedBy(domain, verified('dom_2'), at).state),
  expiry: after((domain) => recordCheck(domain, wrong, { now: tooLate, jitter: 0 }).state),
};
