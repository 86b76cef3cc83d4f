import { limitInWords, type Hold } from '../../../domains/domain/certificates/ca-budget.ts';
import type { Deploy } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { siteLimits } from '../../../sites/domain/site-contents.ts';
import { deployList, type DeployListView } from './deploy-list.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { field, formError } from '../frame/form-parts.ts';
import { count, empty, exact } from '../frame/parts.ts';
import { projectHead } from './head.ts';
import { refusalOf, type Refusal } from '../frame/screen.ts';
import { largestUpload, uploadField } from './upload-file.ts';

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
    ${formError(refusalOf(refusal, 'roll-back') ?? refusalOf(refusal, 'delete'))}
    ${failure(view)}
    ${waiting(view)}
    <section class="card">
      <h2>New deploy</h2>
      ${uploadForm(project, refusalOf(refusal, 'upload'))}
    </section>
    <section class="card">
      <h2>Deploys</h2>
      ${deploys.length === 0 ? howToDeploy : deployList(view)}
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

const accept = '.zip,.tar.gz,.tgz,application/zip,application/gzip';

const hint = () =>
  `A .zip, .tar.gz or .tgz with index.html at its top: ${count(siteLimits.entries)} files and ` +
  `${siteLimits.bytes / 1024 / 1024} MiB at most, unpacked.`;

/** With the script it shows how far it is; without, the browser does. */
const uploadForm = ({ slug }: Project, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="/dashboard/projects/${slug}/deploys" enctype="multipart/form-data"
      data-upload data-largest="${largestUpload}">
    ${field({ label: 'Site archive', name: uploadField, type: 'file', accept, hint: hint() }, refusal)}
    <div class="stack progress" hidden>
      <progress aria-label="Upload"></progress>
      <div class="row between"><output></output> <button type="button" class="bare" data-cancel>Cancel</button></div>
    </div>
    <div><button class="main">Deploy</button></div>
  </form>`;

/** Before the first deploy: what to upload. */
const howToDeploy = empty(
  'Nothing published yet',
  html`Pack the folder of your site, with <code>index.html</code> in it, and upload it above. Visitors get it as soon as it
    is unpacked.`,
);
