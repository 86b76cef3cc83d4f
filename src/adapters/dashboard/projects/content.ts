import { limitInWords } from '../../../domains/domain/certificates/budget-words.ts';
import type { Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import type { Deploy } from '../../../sites/domain/deploy.ts';
import { deployList, type DeployListView } from './deploy-list.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { formError } from '../frame/form-parts.ts';
import { exact } from '../frame/parts.ts';
import { projectHead } from './head.ts';
import { refusalOf, type Refusal } from '../frame/screen.ts';
import { howToDeploy, uploadForm } from './upload-form.ts';

export interface ProjectView extends DeployListView {
  /** URLs that its site is served at, if there is one. */
  readonly addresses: readonly string[];
  /** The limit that the certificate of the project's own host waits for. */
  readonly hold: Hold | undefined;
  readonly refusal: Refusal | undefined;
}

export const projectContent = (view: ProjectView): Html => {
  const { project, deploys, refusal } = view;
  return html`
    ${projectHead(project, 'deploys', lead(view))}
    ${formError(refusalOf(refusal, 'roll-back') ?? refusalOf(refusal, 'delete-deploy'))}
    ${failure(view)}
    ${waiting(view)}
    <section class="card">
      <h2>New deploy</h2>
      ${uploadForm(project, refusalOf(refusal, 'upload'))}
    </section>
    <section class="card">
      <h2>Deploys</h2>
      ${deploys.length === 0 ? howToDeploy(project) : deployList(view)}
    </section>`;
};

const servedBy = ({ deploys, servedDeployId }: DeployListView): Deploy | undefined =>
  deploys.find(({ id }) => id === servedDeployId);

const lead = (view: ProjectView): Html => {
  const served = servedBy(view);
  const hosts = view.addresses.map((address) => new URL(address).host);
  return served
    ? html`<p class="lead">Visitors get <strong>deploy ${served.number}</strong> at
        ${view.addresses.map((address, at) => html`${at > 0 && ', '}<a href="${address}">${hosts[at]}</a>`)}</p>`
    : html`<p class="lead">Not published yet. Once deployed, it is at ${hosts[0]}.</p>`;
};

/** An alert for the newest deploy, whose owner waits for the result. */
const failure = (view: ProjectView): Html => {
  const [newest] = view.deploys;
  if (newest?.state !== 'failed') return nothing;
  const served = servedBy(view);
  const still = served ? `Visitors still get deploy ${served.number}.` : 'Nothing is published.';
  return html`<p class="notice bad" role="alert">Deploy ${newest.number} failed. ${newest.explanation} ${still}</p>`;
};

/** Without a certificate its address does not answer over HTTPS. */
const waiting = ({ hold, addresses: [own] }: ProjectView): Html =>
  hold && own !== undefined
    ? html`<p class="notice bad" role="status">${new URL(own).host} has no certificate yet, because a limit is reached: ${limitInWords(hold.reason)}. It is ordered automatically, from ${exact(hold.nextAt)} on.</p>`
    : nothing;
