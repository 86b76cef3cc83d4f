import * as v from 'valibot';
import type { Account } from '../../../access/domain/account.ts';
import { limitsOf, type Plan, plans } from '../../../access/domain/quota.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import { planAllowances, type Allowance } from '../../../sites/domain/project.ts';
import type { AccountUse } from '../../../sites/use-cases/projects.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, type Fact, facts, head, planNames, table } from '../frame/parts.ts';
import { accountPath, deletedPath } from '../frame/paths.ts';
import { accountTabs } from './tabs.ts';
import {
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import { formError } from '../frame/form-parts.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  accountDeletion,
  accountNameSection,
  deletingAccount,
  renamingAccount,
} from './deleted-screen.ts';

export const accountScreen = (ports: DashboardPorts): Screen => {
  const { access, sites, domains } = ports;
  return {
    path: accountPath,
    section: 'account',
    live: false,
    notices: {
      renamed: 'The account is renamed.',
      demanded: 'Everybody who signs in from now on must set up a second factor.',
      'no-longer-demanded': 'A second factor is no longer required.',
    },
    show: async (visit, refusal) => {
      const { account } = visit.signedIn;
      const [people, use, { attached }] = await Promise.all([
        access.listPeople(visit.accountId),
        sites.showUse(visit.accountId),
        domains.showOverview(visit.accountId, 0),
      ]);
      const domainsUsed = [...attached.values()].reduce((sum, one) => sum + one, 0);
      const gone = { projects: use.projects, people: people.length };
      const content = html`
        ${head('Account', account.name)}
        ${accountTabs('account')}
        ${accountNameSection(account, visit, refusal)}
        ${planSection(account, use, domainsUsed)}
        ${demandSection(visit, refusalOf(refusal, 'demand-factor'))}
        ${visit.may('account.delete') && accountDeletion(account, gone, refusalOf(refusal, 'delete-account'))}`;
      return { title: 'Account', content };
    },
    forms: [demandForm(ports), renamingAccount(ports), deletingAccount(ports)],
  };
};

const demandPath = `${accountPath}/second-factor`;

const demandSection = ({ signedIn, may }: Visit, refusal: Refusal | undefined): Html => {
  const isDemanded = signedIn.account.factorDemandedAt !== undefined;
  const label = isDemanded ? 'Stop requiring it' : 'Require it of everybody';
  return html`<section class="card" id="second-factor">
    <h2>Second factor</h2>
    <p class="hint">${isDemanded ? 'Everybody in this account needs a second factor. People without one set it up when they sign in.' : 'Each person decides whether to have a second factor. You can require one: those without it are led to set one up at their next sign-in.'}</p>
    ${formError(refusal)}
    ${
      may('account.demand_factor') &&
      html`<form method="post" action="${demandPath}" class="inline"><input type="hidden" name="demand" value="${isDemanded ? 'no' : 'yes'}"><button>${label}</button></form>`
    }
  </section>`;
};

const demandForm = ({ access }: Pick<DashboardPorts, 'access'>): Form =>
  form({
    name: 'demand-factor',
    operation: 'account.demand_factor',
    path: demandPath,
    schema: v.object({ demand: v.picklist(['yes', 'no']) }),
    act: async ({ accountId }, { demand }) => {
      await access.demandFactor(accountId, demand === 'yes');
      return { to: accountPath, done: demand === 'yes' ? 'demanded' : 'no-longer-demanded' };
    },
  });

const planSection = (
  account: Account,
  { allowance, projects, storedBytes }: AccountUse,
  domains: number,
): Html => {
  const { perMinute, perDay } = limitsOf(account.plan, account.ownLimits);
  return html`<section class="card">
  <h2>Plan</h2>
  ${facts([
    ...Object.values(factsOf(account)),
    [
      'Requests',
      html`${count(perMinute)} per minute, ${count(perDay)} per day. <a href="/dashboard/usage">See what is used</a>`,
    ],
    [
      'Projects',
      html`${used(projects, allowance.projects)}. <a href="${deletedPath}">Deleted projects</a>`,
    ],
    ['Custom domains', used(domains, allowance.domains)],
    ['Stored files', used(storedBytes, allowance.storedBytes, bytesInWords)],
  ])}
  <details><summary>Compare the plans</summary>${planTable(account, allowance)}</details>
  <p class="hint">To change your plan, contact the operator of this service and give the account ID above.</p>
</section>`;
};

const used = (now: number, most: number, inWords: (one: number) => string = count): Html =>
  html`${inWords(now)} of ${inWords(most)}${now > 0 && now >= most && html` ${badge('limit reached', 'busy')}`}`;

/** The page shows the name beside the id, and custom limits in the table. */
type ShownElsewhere =
  ('deletedAt' | 'name' | 'email' | 'ownLimits' | 'siteLimits' | 'warnings') | 'factorDemandedAt';

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
