import {
  AcmeCertificateAuthority,
  type AcmeSettings,
} from '../../../src/adapters/acme/acme-certificate-authority.ts';
import { SystemClock } from '../../../src/adapters/system/clock-and-chance.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import type {
  AuthorityAccount,
  AuthorityAccounts,
} from '../../../src/domains/certificate-ports.ts';
import { labIssuer, type PebbleLab } from './pebble-lab.ts';

interface Ports {
  readonly accounts?: AuthorityAccounts;
  readonly clock?: Clock;
}

/** For one process: the first account that is saved stays until the authority has lost it. */
export const keptAccounts = (): AuthorityAccounts => {
  const kept = new Map<string, AuthorityAccount>();
  const save = (directoryUrl: string, account: AuthorityAccount, lostUrl?: string) => {
    if (kept.get(directoryUrl)?.url === lostUrl) kept.set(directoryUrl, account);
    return Promise.resolve();
  };
  return { find: (directoryUrl) => Promise.resolve(kept.get(directoryUrl)), save };
};

/** A client of the lab's authority, with an account of its own where none is given. */
export const connectAuthority = (
  { gate, pebble, challenges }: PebbleLab,
  settings: Partial<AcmeSettings> = {},
  { accounts = keptAccounts(), clock = new SystemClock() }: Ports = {},
): {
  readonly authority: AcmeCertificateAuthority;
  readonly publish: (token: string, keyAuthorization: string) => void;
} => ({
  authority: new AcmeCertificateAuthority(
    {
      directoryUrl: gate.directoryUrl,
      issuers: [labIssuer],
      trustedCa: pebble.tls.cert,
      ...settings,
    },
    accounts,
    clock,
  ),
  publish: (token, keyAuthorization) => challenges.publish(token, keyAuthorization),
});
