import type { Account } from '../../../access/domain/account.ts';
import { limitsOf, type Plan, plans } from '../../../access/domain/quota.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import { planAllowances, type Allowance } from '../../../sites/domain/project.ts';
import type { AccountUse } from '../../../sites/use-cases/projects.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, type Fact, facts, head, planNames, table } from '../frame/parts.ts';
import { accountPath } from '../frame/paths.ts';
import { refusalOf, type Screen } from '../frame/screen.ts';
import { shownOnce } from '../frame/sent-form.ts';
import { mailForm, mailSection } from '../notices/mail.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  accountDeletion,
  accountNameSection,
  deletingAccount,
  renamingAccount,
} from './deleted-screen.ts';
import { endSession, endSessions, passwordForm, passwordSection, sessionsSection } from './me.ts';
import {
  dismissal,
  invitation,
  leaving,
  newLink,
  ownLink,
  peopleSection,
  roleForm,
} from './people.ts';

export const accountScreen = (ports: DashboardPorts): Screen => {
  const { access, sites, notifications, ids } = ports;
  const newId = () => ids.next('form');
  return {
    path: accountPath,
    section: 'account',
    live: false,
    notices: {
      [shownOnce]:
        'This was already done, and the link was shown then. If you lost it, create a new one.',
      renamed: 'The account is renamed.',
      role: 'The role is saved.',
      removed: 'The person was removed and can no longer sign in.',
      password: 'The password is saved. All your other sessions have ended.',
      ended: 'The session has ended.',
      mail: 'Your mail settings are saved.',
      'all-ended': 'You are signed out everywhere else.',
    },
    show: async (visit, refusal, secret) => {
      const { signedIn, accountId } = visit;
      const { account, person } = signedIn;
      const [people, troubles, sessions, mail, use] = await Promise.all([
        access.listPeople(accountId),
        notifications.listMailTroubles(accountId),
        access.listSessions(person.id),
        mailSection(ports, person),
        sites.showUse(accountId),
      ]);
      const content = html`
        ${head('Account', html`${account.name}. You are signed in as ${person.email}. <a href="${accountPath}/audit">Audit log</a>`)}
        ${secret}
        ${accountNameSection(account, visit, refusal)}
        ${planSection(account, use)}
        ${peopleSection({ people, troubles }, visit, {
          newId,
          refusal,
          isMailOn: ports.notifications.isMailOn,
        })}
        ${mail}
        ${passwordSection(signedIn, refusalOf(refusal, 'password'))}
        ${sessionsSection(sessions, visit)}
        ${visit.may('account.delete') && accountDeletion(account, { projects: use.projects, people: people.length }, refusalOf(refusal, 'delete-account'))}`;
      return { title: 'Account', content };
    },
    forms: [
      invitation(ports),
      newLink(ports),
      ownLink(ports),
      leaving(ports),
      roleForm(ports),
      dismissal(ports),
      mailForm(ports),
      passwordForm(ports),
      endSession(ports),
      endSessions(ports),
      renamingAccount(ports),
      deletingAccount(ports),
    ],
  };
};

const planSection = (
  account: Account,
  { allowance, projects, storedBytes }: AccountUse,
): Html => html`<section class="card">
  <h2>Plan</h2>
  ${facts([
    ...Object.values(factsOf(account)),
    ['Projects', `${count(projects)} of ${count(allowance.projects)}`],
    ['Stored files', `${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}`],
  ])}
  ${planTable(account, allowance)}
  <p class="hint">To change your plan, contact the operator of this service and give the account ID above.</p>
</section>`;

/** The name is shown beside the id; custom limits are in the table. */
type ShownElsewhere = 'deletedAt' | 'name' | 'email' | 'ownLimits' | 'siteLimits' | 'warnings';

const factsOf = ({
  id,
  name,
  plan,
  createdAt,
}: Account): Omit<EveryField<Account, Fact>, ShownElsewhere> => ({
  id: ['Account', html`${name} <code class="quiet">${id}</code>`],
  createdAt: ['Created', day(createdAt)],
  plan: ['Plan', html`<strong>${planNames[plan]}</strong>`],
});

const planTable = (account: Account, own: Allowance): Html => {
  const isOwn = (plan: Plan) => plan === account.plan;
  const of = (plan: Plan): Allowance => (isOwn(plan) ? own : planAllowances[plan]);
  const limit = (plan: Plan, per: 'perMinute' | 'perDay'): string =>
    plan === 'enterprise' && !isOwn(plan)
      ? 'by agreement'
      : count(limitsOf(plan, isOwn(plan) ? account.ownLimits : undefined)[per]);
  return table(
    plans,
    [
      [
        'Plan',
        'name',
        (plan) => html`${planNames[plan]} ${isOwn(plan) && badge('your plan', 'good')}`,
      ],
      ['Requests per minute', 'number', (plan) => limit(plan, 'perMinute')],
      ['Requests per day', 'number', (plan) => limit(plan, 'perDay')],
      ['Projects', 'number', (plan) => count(of(plan).projects)],
      ['Stored files', 'number', (plan) => bytesInWords(of(plan).storedBytes)],
      ['Custom domains', 'number', (plan) => domainsOf(of(plan))],
      ['Wildcard domains', 'text', (plan) => (of(plan).hasWildcards ? 'yes' : 'no')],
    ],
    { isOwn },
  );
};

const domainsOf = ({ domains }: Allowance): string => (domains === 0 ? 'none' : count(domains));
