import type { Account } from '../../../access/domain/account.ts';
import { limitsOf, plans, type Plan } from '../../../access/domain/plan.ts';
import type { Allowance } from '../../../sites/domain/allowance.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import type { AccountUse } from '../../../sites/use-cases/show-use.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, day, facts, type Fact } from '../frame/parts.ts';
import { table } from '../frame/table.ts';

export const planSection = (
  account: Account,
  { allowance, projects, storedBytes }: AccountUse,
  allowances: Readonly<Record<Plan, Allowance>>,
): Html => html`<section class="card">
  <h2>Plan</h2>
  ${facts([
    ...Object.values(factsOf(account)),
    ['Projects', `${count(projects)} of ${count(allowance.projects)}`],
    ['Stored files', `${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}`],
  ])}
  ${planTable(account, allowances)}
  <p class="hint">To change your plan, contact the operator of this service and give the account ID above.</p>
</section>`;

/** The name is shown beside the id; custom limits are in the table. */
const factsOf = ({
  id,
  name,
  plan,
  createdAt,
}: Account): Omit<EveryField<Account, Fact>, 'name' | 'email' | 'ownLimits' | 'warnings'> => ({
  id: ['Account', html`${name} <code class="quiet">${id}</code>`],
  createdAt: ['Created', day(createdAt)],
  plan: ['Plan', html`<strong>${planNames[plan]}</strong>`],
});

export const planNames: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

const planTable = (account: Account, allowances: Readonly<Record<Plan, Allowance>>): Html => {
  const isOwn = (plan: Plan) => plan === account.plan;
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
      ['Projects', 'number', (plan) => count(allowances[plan].projects)],
      ['Stored files', 'number', (plan) => bytesInWords(allowances[plan].storedBytes)],
      ['Custom domains', 'number', (plan) => domainsOf(allowances[plan])],
      ['Wildcard domains', 'text', (plan) => (allowances[plan].hasWildcards ? 'yes' : 'no')],
    ],
    { isOwn },
  );
};

const domainsOf = ({ domains }: Allowance): string => (domains === 0 ? 'none' : count(domains));
