import type { Context } from 'koa';
import { isVisited } from '../../../domains/domain/attachment/serving.ts';
import { type Hold, limitInWords } from '../../../domains/domain/certificates/ca-budget.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import {
  type Deploy,
  type DeployState,
  keptDeploys,
  type Site,
} from '../../../sites/domain/site.ts';
import { siteLimits } from '../../../sites/domain/site-contents.ts';
import type { UploadRefusal } from '../../../sites/domain/sites-error.ts';
import type { UploadProgress } from '../../../sites/ports.ts';
import type { AccountUse } from '../../../sites/use-cases/projects.ts';
import { buttonForm, confirmedForm, field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { notFound } from '../frame/page-problem.ts';
import {
  badge,
  type ColumnsOf,
  count,
  counted,
  empty,
  exact,
  table,
  time,
  type Tone,
} from '../frame/parts.ts';
import {
  bareForm,
  type Form,
  type Outcome,
  pathOf,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { projectHead, siteOf, withHost } from './project-head.ts';

const path = '/dashboard/projects/:slug';

export const projectScreen = (ports: DashboardPorts): Screen => {
  const { domains, settings, sites, uploads } = ports;
  const show = async (visit: Visit, refusal?: Refusal) => {
    const site = await siteOf(ports, visit);
    const attached = await domains.listDomains(site.project.id);
    const { slug, name } = site.project;
    const own = settings.siteUrl(slug);
    const served = attached.filter(isVisited);
    const addresses = [own, ...served.map(({ host }) => withHost(own, host))];
    const progress = uploads.progressOf(site.project);
    const hold = await domains.showOwnHold({
      ...site.project,
      servedDeployId: site.servedDeployId,
    });
    const use = await sites.showUse(site.project.accountId);
    const view = {
      ...site,
      uploads,
      addresses,
      progress,
      hold,
      use,
      refusal,
      now: visit.now,
      may: visit.may,
    };
    return { title: name, content: projectContent(view) };
  };
  return {
    path,
    section: 'projects',
    // Uploads to this process are stored only when they end, and other projects share the storage.
    live: 'rendered',
    notices: {
      created: 'Project created. Now upload its site.',
      'created-elsewhere':
        'Project created. Its address has a number, because the name alone is reserved: it could be mistaken for an address of this service. Now upload its site.',
      deleted: 'The deploy was deleted.',
      deployed: 'The deploy succeeded.',
      'rolled-back': 'Visitors now get the deploy that you chose.',
    },
    show,
    forms: [
      deployForm('roll-back', 'rolled-back', sites.rollBack),
      deployForm('delete', 'deleted', sites.deleteDeploy),
    ],
    others: [
      {
        method: 'POST',
        path: `${path}/deploys`,
        operation: 'deploy.upload',
        answer: uploading(ports, show),
      },
    ],
  };
};

type DeployAct = (...deploy: Parameters<DashboardPorts['sites']['rollBack']>) => Promise<unknown>;

const deployForm = (name: 'roll-back' | 'delete', done: string, act: DeployAct): Form =>
  bareForm({
    name,
    operation: name === 'delete' ? 'deploy.delete' : 'deploy.use',
    path: `${path}/deploys/:number/${name}`,
    act: async (visit) => {
      const { slug = '', number = '' } = visit.parameters;
      if (!/^[1-9]\d{0,8}$/.test(number)) throw notFound();
      await act({ accountId: visit.accountId, slug }, Number(number));
      return { to: pathOf({ path }, visit), done };
    },
  });

/** Takes an upload. Problems of the upload show beside the field; a bad archive becomes a failed deploy. */
const uploading =
  (ports: DashboardPorts, show: Screen['show']) =>
  async (visit: Visit, ctx: Context): Promise<Outcome> => {
    try {
      const { project } = await siteOf(ports, visit);
      const origin = {
        madeBy: `person:${visit.signedIn.person.email}`,
        message: undefined,
      } as const;
      const { state } = await ports.uploads.takeForm(project, ctx.req, origin);
      const to = pathOf({ path }, visit);
      return state === 'succeeded' ? { to, done: 'deployed' } : { to };
    } catch (error) {
      if (!(error instanceof DomainError) || !(error.code in refusalStatus)) throw error;
      const { code, message } = error as DomainError<UploadRefusal>;
      const status = refusalStatus[code];
      const { parameters } = visit;
      if (status === 503) ctx.set('Retry-After', '30');
      const refusal = {
        form: 'upload',
        field: ports.uploads.field,
        message,
        values: {},
        parameters,
      };
      return { ...(await show(visit, refusal)), status };
    } finally {
      ports.uploads.discard(ctx.req);
    }
  };

/** Not 408 for a slow one, because browsers may then repeat the request by themselves. */
const refusalStatus: Readonly<Record<UploadRefusal, number>> = {
  upload_ambiguous: 422,
  upload_busy: 503,
  upload_cut_off: 400,
  upload_missing: 422,
  upload_no_form: 415,
  upload_no_space: 503,
  upload_too_large: 422,
  upload_too_slow: 400,
};

interface ProjectView extends DeployListView {
  readonly addresses: readonly string[];
  readonly uploads: DashboardPorts['uploads'];
  readonly hold: Hold | undefined;
  readonly refusal: Refusal | undefined;
}

const projectContent = (view: ProjectView): Html => {
  const { project, deploys, refusal } = view;
  return html`
    ${projectHead(project, 'overview', lead(view))}
    ${formError(refusalOf(refusal, 'roll-back') ?? refusalOf(refusal, 'delete'))}
    ${failure(view)}
    ${waiting(view)}
    ${
      view.may('deploy.upload') &&
      html`<section class="card">
      <h2>New deploy</h2>
      ${uploadForm(view)}
    </section>`
    }
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

const failure = (view: ProjectView): Html => {
  const [newest] = view.deploys;
  if (newest?.state !== 'failed') return nothing;
  const served = servedBy(view);
  const still = served ? `Visitors still get deploy ${served.number}.` : 'Nothing is published.';
  return html`<p class="notice bad" role="alert">Deploy ${newest.number} failed. ${newest.explanation} ${still}</p>`;
};

const waiting = ({ hold, addresses: [own] }: ProjectView): Html =>
  hold && own !== undefined
    ? html`<p class="notice bad" role="status">${new URL(own).host} has no certificate yet, because a limit is reached: ${limitInWords(hold.reason)}. It is ordered automatically, from ${exact(hold.nextAt)} on.</p>`
    : nothing;

const accept = '.zip,.tar.gz,.tgz,application/zip,application/gzip';

const hint = () =>
  `A .zip, .tar.gz or .tgz with index.html at its top: ${count(siteLimits.entries)} files and ` +
  `${siteLimits.bytes / 1024 / 1024} MiB at most, unpacked.`;

/** With the script it shows how far it is; without, the browser does. */
const uploadForm = ({ project: { slug }, uploads, refusal }: ProjectView): Html =>
  html`<form method="post" action="/dashboard/projects/${slug}/deploys" enctype="multipart/form-data"
      data-upload data-largest="${siteLimits.bytes}">
    ${field({ label: 'Site archive', name: uploads.field, type: 'file', accept, hint: hint() }, refusalOf(refusal, 'upload'))}
    <div class="stack progress" hidden>
      <progress aria-label="Upload"></progress>
      <div class="row between"><output></output> <button type="button" class="bare" data-cancel>Cancel</button></div>
    </div>
    <div><button class="main">Deploy</button></div>
  </form>`;

const howToDeploy = empty(
  'Nothing published yet',
  html`Pack the folder of your site, with <code>index.html</code> in it, and upload it above. Visitors get it as soon as it
    is unpacked.`,
);

const tones: Readonly<Record<DeployState, Tone>> = {
  uploading: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

interface DeployListView extends Site {
  readonly progress: UploadProgress | undefined;
  readonly use: AccountUse;
  readonly now: Date;
  readonly may: Visit['may'];
}

const deployList = (view: DeployListView): Html =>
  html`${table(view.deploys, Object.values(columns(view)), { idOf: ({ number }) => `deploy-${number}` })}
  <p class="hint">The last ${keptDeploys} deploys are kept, and the one that is served. All projects of your account together keep ${bytesInWords(view.use.storedBytes)} of ${bytesInWords(view.use.allowance.storedBytes)}.</p>`;

const columns = (
  view: DeployListView,
): ColumnsOf<
  Deploy,
  'id' | 'finishedAt' | 'bytes' | 'problem' | 'explanation' | 'madeBy' | 'message'
> => {
  const isServed = ({ id }: Deploy) => id === view.servedDeployId;
  return {
    number: [
      'Deploy',
      'text',
      (deploy) =>
        html`<span><strong>${deploy.number}</strong> ${isServed(deploy) && html`<span class="badge served">served</span>`}</span>`,
    ],
    state: ['Status', 'text', ({ state }) => badge(state, tones[state])],
    files: ['Contents', 'text', (deploy) => contents(deploy, view)],
    startedAt: ['Uploaded', 'text', ({ startedAt }) => time(startedAt, view.now)],
    action: [
      'Action',
      'actions',
      (deploy) =>
        deploy.state === 'succeeded' &&
        !isServed(deploy) && [
          view.may('deploy.use') && useButton(deploy, view),
          view.may('deploy.delete') && deleteButton(deploy, view),
        ],
    ],
  };
};

const contents = (deploy: Deploy, view: DeployListView): Html => {
  switch (deploy.state) {
    case 'uploading':
      return html`<span class="quiet">${progressOf(view)}</span>`;
    case 'succeeded':
      return html`${counted(deploy.files, 'file')}, ${bytesInWords(deploy.bytes)}`;
    case 'failed':
      return html`<span class="wrapped">${deploy.explanation}</span>`;
  }
};

const steps = { unpacking: 'unpacking', preparing: 'compressing', storing: 'storing' } as const;

/** With several uploads at once, it is unknown which one the progress belongs to. */
const progressOf = ({ deploys, progress }: DeployListView): string => {
  const uploading = deploys.filter(({ state }) => state === 'uploading');
  if (!progress || uploading.length > 1) return 'being unpacked';
  const { step, done, total } = progress;
  const of = total === undefined ? '' : ` of ${count(total)}`;
  return `${steps[step]}: ${count(done)}${of} files`;
};

const useButton = ({ number }: Deploy, { project }: Site): Html =>
  buttonForm(`/dashboard/projects/${project.slug}/deploys/${number}/roll-back`, 'Use this deploy', {
    about: `Serve deploy ${number} to visitors`,
  });

const deleteButton = ({ number }: Deploy, { project }: Site): Html =>
  confirmedForm({
    id: `delete-${number}`,
    label: 'Delete',
    about: `Delete deploy ${number}`,
    question: `Delete deploy ${number}?`,
    consequences:
      'Its files are deleted. Visitors still get the deploy that is served. This cannot be undone.',
    confirm: 'Delete deploy',
    action: `/dashboard/projects/${project.slug}/deploys/${number}/delete`,
  });
