import type { Plan } from '../../../access/domain/plan.ts';
import { planAllowances } from '../../../sites/domain/allowance.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { otherNamePath } from './paths.ts';
import { html, type Html } from '../frame/html.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import { empty } from '../frame/parts.ts';
import type { Refusal } from '../frame/screen.ts';

interface Adding {
  readonly action: string;
  readonly once: string;
  /** Whether the plan and the service have wildcards. */
  readonly hasWildcards: boolean;
  readonly refusal: Refusal | undefined;
}

export const addingForm = ({ action, once, hasWildcards, refusal }: Adding): Html =>
  html`<form method="post" action="${action}" class="fields">
    ${formError(refusal)}
    ${onceInput(once)}
    <div class="field">
      ${field(
        {
          label: 'Domain',
          name: 'domain',
          placeholder: 'shop.example.com',
          maxlength: 300,
          inputmode: 'url',
          autocomplete: 'off',
          hint: `A name that you own, such as shop.example.com or example.com.${hasWildcards ? wildcardHint : ''} The next step shows the DNS records to create; nothing changes for visitors yet.`,
        },
        refusal,
      )}
      ${pairBox(refusal)}
    </div>
    <button class="main">Add domain</button>
  </form>`;

const wildcardHint =
  ' A wildcard such as *.shop.example.com stands for every name one level below.';

const anyOther = 'www.example.com for example.com, or the other way round';

/**
 * Ticked until somebody unticks it. Where scripts run, it names the other name as one is typed, and is not shown for a name
 * that has none.
 */
const pairBox = (refusal: Refusal | undefined): Html => {
  const isTicked = refusal?.values['pair'] !== undefined || refusal === undefined;
  return html`<label class="option"><input type="checkbox" name="pair" value="yes" ${isTicked && html`checked`}>
    <span>Also add <span data-other-of="domain" data-from="${otherNamePath}" data-any="${anyOther}">${anyOther}</span>, and redirect it to this one</span></label>`;
};

/** What is missing before a domain can be added, with a link. */
export const noDomainYet = ({ project, servedDeployId }: Site, plan: Plan): Html => {
  const planAllows = planAllowances[plan].domains > 0;
  const isDeployed = servedDeployId !== undefined;
  return empty(
    'No domain yet',
    'Give this site a name of your own. It is served over HTTPS, with a certificate that is issued and renewed automatically.',
    html`<ul class="bullets">
      ${need(
        planAllows,
        `The ${plan} plan includes custom domains.`,
        html`The ${plan} plan does not include custom domains; they need Pro or above. <a href="/dashboard/account">See your plan</a>`,
      )}
      ${need(
        isDeployed,
        'The site is deployed.',
        html`There is nothing to serve yet. <a href="/dashboard/projects/${project.slug}">Deploy the site</a>`,
      )}
    </ul>`,
  );
};

const need = (isMet: boolean, met: string, missing: Html): Html =>
  html`<li class="${isMet ? 'met good' : 'missing bad'}"><span>${isMet ? met : missing}</span></li>`;
