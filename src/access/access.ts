import { changePlan, demandFactor, renameAccount, restoreAccount } from './domain/account.ts';
import { keyOf, liftBan, revokeApiKey } from './domain/api-key.ts';
import type { Agreed, Plan } from './domain/quota.ts';
import type { AccessPorts, Caller } from './ports.ts';
import {
  admitAskedCall,
  admitSharedPage,
  admitUse,
  admitInvitation,
  admitNewLink,
} from './use-cases/request-limits.ts';
import {
  askForLink,
  answerMailRequests,
  mailRequestsDueAt,
  wantMail,
} from './use-cases/mailed-links.ts';
import { authenticate, meterAddress, meterCaller, peekAddress } from './use-cases/callers.ts';
import {
  choosePassword,
  dismiss,
  giveRole,
  rename,
  invite,
  inviteAnybody,
  renewLink,
  revokeOtherSessions,
  revokeSession,
  signInLinkFor,
} from './use-cases/people.ts';
import {
  createAccount,
  deleteAccount,
  endAccount,
  accountsToEnd,
  showUsage,
  sumUsage,
  removalsDueAt,
  requireInService,
  warnOfRemovals,
} from './use-cases/accounts.ts';
import {
  offerApp,
  openOffer,
  passkeyOptions,
  prove,
  removeFactor,
  renewRecoveryCodes,
  resetFactors,
  setUpApp,
  setUpPasskey,
} from './use-cases/second-factor.ts';
import { createApiKey, rotateKey } from './use-cases/api-keys.ts';
import {
  findSession,
  findWaiting,
  noteSeen,
  lookBehindLink,
  signIn,
  signInByLink,
  accountsOf,
  switchAccount,
} from './use-cases/sign-in.ts';

export const access = (ports: AccessPorts) => ({
  authenticate: authenticate(ports),
  createAccount: createAccount(ports),
  createApiKey: createApiKey(ports),
  listAccounts: () => ports.accounts.list(),
  listApiKeys: (accountId: string) => ports.apiKeys.list(accountId),
  meterCaller: meterCaller(ports),
  meterAddress: meterAddress(ports),
  peekAddress: peekAddress(ports),
  rotateApiKey: rotateKey(ports),
  showUsage: showUsage(ports),
  sumUsage: sumUsage(ports),
  /** Sums the requests of an account or of one of its keys. Keys of other accounts have none. */
  sumRequests: (of: Caller, since: Date, unit: 'hour' | 'day') => ports.usage.sum(of, since, unit),
  /** @param until the first hour that is left out */
  listUsage: (accountId: string, since: Date, until: Date) =>
    ports.usage.list(accountId, since, until),
  warnOfRemovals: warnOfRemovals(ports),
  removalsDueAt: removalsDueAt(ports),
  signIn: signIn(ports),
  signInByLink: signInByLink(ports),
  lookBehindLink: lookBehindLink(ports),
  askForLink: askForLink(ports),
  wantMail: wantMail(ports),
  mailRequestsDueAt: mailRequestsDueAt(ports),
  answerMailRequests: answerMailRequests(ports),
  accountsOf: accountsOf(ports),
  switchAccount: switchAccount(ports),
  findSession: findSession(ports),
  findWaiting: findWaiting(ports),
  noteSeen: noteSeen(ports),
  findFactor: (personId: string) => ports.secondFactors.find(personId),
  offerApp: offerApp(ports),
  openOffer: openOffer(ports),
  setUpApp: setUpApp(ports),
  passkeyOrigin: ports.passkeys.origin,
  passkeyOptions: passkeyOptions(ports),
  setUpPasskey: setUpPasskey(ports),
  removeFactor: removeFactor(ports),
  renewRecoveryCodes: renewRecoveryCodes(ports),
  resetFactors: resetFactors(ports),
  prove: prove(ports),
  admitUse: admitUse(ports),
  admitSharedPage: admitSharedPage(ports),
  admitAskedCall: admitAskedCall(ports),
  revokeSession: revokeSession(ports),
  revokeOtherSessions: revokeOtherSessions(ports),
  listSessions: (personId: string) => ports.sessions.list(personId),
  listPeople: (accountId: string) => ports.people.list(accountId),
  admitInvitation: admitInvitation(ports),
  admitNewLink: admitNewLink(ports),
  invite: invite(ports),
  inviteAnybody: inviteAnybody(ports),
  renewLink: renewLink(ports),
  signInLinkFor: signInLinkFor(ports),
  giveRole: giveRole(ports),
  rename: rename(ports),
  dismiss: dismiss(ports),
  choosePassword: choosePassword(ports),
  /** @throws DomainError `account_not_found`, `account_invalid` */
  renameAccount: (accountId: string, name: string) =>
    ports.accounts.change(accountId, (account) => renameAccount(account, name, ports.clock.now())),
  deleteAccount: deleteAccount(ports),
  /** @throws DomainError `account_not_found`, `account_not_restorable` */
  restoreAccount: (accountId: string) =>
    ports.accounts.change(accountId, (account) => restoreAccount(account, ports.clock.now())),
  /** @throws DomainError `account_not_found`, `account_deleted` */
  requireInService: requireInService(ports),
  isInService: async (accountId: string): Promise<boolean> => {
    const account = await ports.accounts.find(accountId);
    return account !== undefined && account.deletedAt === undefined;
  },
  endsDueAt: () => ports.accounts.firstEnd(),
  accountsToEnd: accountsToEnd(ports),
  endAccount: endAccount(ports),
  /** @throws DomainError `account_not_found`, `account_invalid` */
  setPlan: (accountId: string, plan: Plan, agreed: Agreed = {}) =>
    ports.accounts.change(accountId, (account) =>
      changePlan(account, { ...agreed, plan }, ports.clock.now()),
    ),
  /** @throws DomainError `account_not_found` */
  demandFactor: (accountId: string, isDemanded: boolean) =>
    ports.accounts.change(accountId, (account) =>
      demandFactor(account, isDemanded, ports.clock.now()),
    ),
  /** @param accountId see `keyOf` @throws DomainError `api_key_not_found` */
  liftBan: (keyId: string, accountId?: string) =>
    ports.apiKeys.change(keyId, (key) => liftBan(keyOf(accountId, key), ports.clock.now())),
  /** @param accountId see `keyOf` @throws DomainError `api_key_not_found` */
  revokeApiKey: (keyId: string, accountId?: string) =>
    ports.apiKeys.change(keyId, (key) => revokeApiKey(keyOf(accountId, key), ports.clock.now())),
});

export type Access = ReturnType<typeof access>;
