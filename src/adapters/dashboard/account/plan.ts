import type { Account } from '../../../access/domain/account.ts';
import { limitsOf, plans, type Plan } from '../../../access/domain/plan.ts';
import type { Allowance } from '../../../sites/domain/allowance.ts';
import { bytesInWords } from '../../../sites/domain/in-words.ts';
import type { AccountUse } from '../../../sites/use-cases/show-use.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, count, day } from '../frame/parts.ts';

/** The plan with its limits, beside the others. */
export const planSection = (
  account: Account,
  { allowance, projects, storedBytes }: AccountUse,
  allowances: Readonly<Record<Plan, Allowance>>,
): Html => html`<section class="card">
  <h2>Plan</h2>
  <dl class="facts">
    <dt>Account</dt><dd>${account.name} <code class="quiet">${account.id}</code></dd>
    <dt>Created</dt><dd>${day(account.createdAt)}</dd>
    <dt>Plan</dt><dd><strong>${planNames[account.plan]}</strong></dd>
    <dt>Projects</dt><dd>${count(projects)} of ${count(allowance.projects)}</dd>
    <dt>Stored files</dt><dd>${bytesInWords(storedBytes)} of ${bytesInWords(allowance.storedBytes)}</dd>
  </dl>
  <div class="table">
    <table class="cards-on-phone plans">
      <thead><tr><th scope="col">Plan</th><th scope="col" class="number">Requests per minute</th><th scope="col" class="number">Requests per day</th><th scope="col" class="number">Projects</th><th scope="col" class="number">Stored files</th><th scope="col" class="number">Custom domains</th></tr></thead>
      <tbody>${plans.map((plan) => row(plan, account, allowances[plan]))}</tbody>
    </table>
  </div>
  <p class="quiet">To change your plan, contact the operator of this service and give the account ID above. Operators run <code>animal-store account set-plan --account ${account.id} --plan PLAN</code>; it takes effect with the next request.</p>
</section>`;

export const planNames: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

const row = (plan: Plan, account: Account, allowance: Allowance): Html => {
  const { projects, storedBytes, domains } = allowance;
  const isOwn = plan === account.plan;
  const { perMinute, perDay } = limitsOf(plan, isOwn ? account.ownLimits : undefined);
  const agreed = plan === 'enterprise' && !isOwn ? 'by agreement' : undefined;
  return html`<tr ${isOwn && html`class="own"`}>
    <td class="name">${planNames[plan]} ${isOwn ? badge('your plan', 'good') : nothing}</td>
    <td class="number" data-label="Requests per minute">${agreed ?? count(perMinute)}</td>
    <td class="number" data-label="Requests per day">${agreed ?? count(perDay)}</td>
    <td class="number" data-label="Projects">${count(projects)}</td>
    <td class="number" data-label="Stored files">${bytesInWords(storedBytes)}</td>
    <td class="number" data-label="Custom domains">${domains === 0 ? 'none' : count(domains)}</td>
  </tr>`;
};
