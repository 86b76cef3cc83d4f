import type { Account } from '../../../access/domain/account.ts';
import { limitsOf, plans, type Plan } from '../../../access/domain/plan.ts';
import type { Allowance } from '../../../sites/domain/allowance.ts';
import { bytesInWords } from '../../../kernel/in-words.ts';
import type { AccountUse } from '../../../sites/use-cases/show-use.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, count, day, facts } from '../frame/parts.ts';
import { table, type Row } from '../frame/table.ts';

/** The plan with its limits, beside the others. */
export const planSection = (
  account: Account,
  { allowance, projects, storedBytes }: AccountUse,
  allowances: Readonly<Record<Plan, Allowance>>,
): Html => html`<section class="card">
  <h2>Plan</h2>
  ${facts([
    ['Account', html`${account.name} <code class="quiet">${account.id}</code>`],
    ['Created', day(account.createdAt)],
    ['Plan', html`<strong>${planNames[account.plan]}</strong>`],
    ['Projects', `${count(projects)} of ${count(allowance.projects)}`],
    ['Stored files', `${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}`],
  ])}
  ${table(
    columns,
    plans.map((plan) => rowOf(plan, account, allowances[plan])),
  )}
  <p class="hint">To change your plan, contact the operator of this service and give the account ID above. Operators run <code>animal-store account set-plan --account ${account.id} --plan PLAN</code>; it takes effect with the next request.</p>
</section>`;

export const planNames: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

const columns = {
  Plan: 'name',
  'Requests per minute': 'number',
  'Requests per day': 'number',
  Projects: 'number',
  'Stored files': 'number',
  'Custom domains': 'number',
} as const;

const rowOf = (
  plan: Plan,
  account: Account,
  { projects, storedBytes, domains }: Allowance,
): Row<keyof typeof columns> => {
  const isOwn = plan === account.plan;
  const { perMinute, perDay } = limitsOf(plan, isOwn ? account.ownLimits : undefined);
  const agreed = plan === 'enterprise' && !isOwn ? 'by agreement' : undefined;
  return {
    isOwn,
    cells: {
      Plan: html`${planNames[plan]} ${isOwn ? badge('your plan', 'good') : nothing}`,
      'Requests per minute': agreed ?? count(perMinute),
      'Requests per day': agreed ?? count(perDay),
      Projects: count(projects),
      'Stored files': bytesInWords(storedBytes),
      'Custom domains': domains === 0 ? 'none' : count(domains),
    },
  };
};
