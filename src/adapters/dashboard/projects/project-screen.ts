import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import {
  type DomainHealth,
  healthOf,
  isVisited,
} from '../../../domains/domain/attachment/serving.ts';
import { type Hold, limitInWords } from '../../../domains/domain/certificates/ca-budget.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import { type Deploy, keptDeploys, type Site } from '../../../sites/domain/site.ts';
import { siteLimits, unwantedNames } from '../../../sites/domain/site-contents.ts';
import type { UploadProgress } from '../../../sites/ports.ts';
import type { AccountUse } from '../../../sites/use-cases/projects.ts';
import { field, onceField, onceInput } from '../frame/form-parts.ts';
import { rowList } from '../frame/list-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { badge, type ColumnsOf, count, empty, exactTime, time } from '../frame/parts.ts';
import { helpPath } from '../frame/paths.ts';
import { pathOf, type Refusal, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { actOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  deployPath,
  keyNames,
  type KeyNames,
  makerInWords,
  sizeOf,
  standingOf,
  useButton,
} from './deploy-parts.ts';
import { projectHead, siteOf, withHost } from './project-head.ts';

const path = '/dashboard/projects/:slug';
const deployForm = { path: `${path}/deploys`, once: true } as const;

export const projectScreen = (ports: DashboardPorts): Screen => {
  const { domains, settings, sites, uploads } = ports;
  const show = async (visit: Visit, refusal?: Refusal) => {
    const site = await siteOf(ports, visit);
    const attached = await domains.listDomains(site.project.id);
    const { slug, name } = site.project;
    const own = settings.siteUrl(slug);
    const live = attached.filter(isVisited);
    const domainSettings = await domains.showDomainSettings(site.project.id);
    const view = {
      ...site,
      uploads,
      visit,
      refusal,
      own,
      keys: await keyNames(ports, visit.accountId),
      live: primaryFirst(live, domainSettings.document.domains.primary),
      isDeployable: visit.may('deploy.upload'),
      progress: uploads.progressOf(site.project),
      hold: await domains.showOwnHold({ ...site.project, servedDeployId: site.servedDeployId }),
      use: await sites.showUse(site.project.accountId),
      once: ports.ids.next('form'),
      now: visit.now,
    };
    return { title: name, content: projectContent(view) };
  };
  return {
    path,
    section: 'projects',
    // An upload to this process is stored only at its end, and other projects share the storage, so only a
    // rendering shows such changes.
    live: 'often',
    notices: {
      created: 'Project created. Now upload its site.',
      'created-elsewhere':
        'Project created. Its address has a number, because the name alone is reserved: it could be mistaken for an address of this service. Now upload its site.',
      deleted: 'The deploy was deleted.',
      deployed: 'The deploy succeeded.',
      'rolled-back': 'Visitors now get the deploy that you chose.',
    },
    show,
    uploads: [
      {
        path: deployForm.path,
        operation: 'deploy.upload',
        field: uploads.field,
        act: async (visit, request, admit) => {
          const { project } = await siteOf(ports, visit);
          const madeBy = `person:${visit.signedIn.person.email}` as const;
          const to = pathOf({ path }, visit);
          const deploy = await uploads.takeForm(project, request, async ({ fields, hash }) => {
            await admit();
            const values = { [onceField]: fields.get(onceField) ?? '', archive: hash };
            const sent = { screen: { path }, form: deployForm, visit, values, ports };
            const led = await actOnce(sent, async () => {
              const begun = await sites.beginDeploy(project, { madeBy, message: undefined });
              return { to, begun };
            });
            return 'begun' in led ? led.begun : undefined;
          });
          return deploy?.state === 'succeeded' ? { to, done: 'deployed' } : { to };
        },
      },
    ],
  };
};

interface ProjectView extends DeployListView {
  readonly own: string;
  readonly live: readonly CustomDomain[];
  readonly uploads: DashboardPorts['uploads'];
  readonly isDeployable: boolean;
  readonly hold: Hold | undefined;
  readonly refusal: Refusal | undefined;
  readonly once: string;
}

const primaryFirst = (
  live: readonly CustomDomain[],
  primary: string | null | undefined,
): readonly CustomDomain[] =>
  live.toSorted((one, other) => Number(other.host === primary) - Number(one.host === primary));

const projectContent = (view: ProjectView): Html => {
  const { project, deploys } = view;
  return html`
    ${projectHead(project, 'overview', lead(view))}
    ${standing(view)}
    ${failure(view)}
    ${waiting(view)}
    ${view.isDeployable && uploadForm(view)}
    <section class="stack">
      <h2>Deploys</h2>
      ${deploys.length === 0 ? howToDeploy(view.isDeployable) : deployList(view)}
    </section>`;
};

const servedBy = ({ deploys, servedDeployId }: DeployListView): Deploy | undefined =>
  deploys.find(({ id }) => id === servedDeployId);

const mostAddresses = 3;

const lead = ({ own, live, ...view }: ProjectView): Html => {
  if (!servedBy(view)) {
    return html`Not published yet. Once deployed, it is at ${new URL(own).host}.`;
  }
  const addresses = live.map(({ host }) => withHost(own, host)).toSpliced(1, 0, own);
  const [first, ...more] = addresses.slice(0, mostAddresses).map(linkTo);
  const left = addresses.length - mostAddresses;
  return html`${first}${more.length > 0 && html` <span class="hint">and ${more.map((link, at) => html`${at > 0 && ', '}${link}`)}${left > 0 && html`, <a href="/dashboard/projects/${view.project.slug}/settings/domains?state=live">${count(left)}\u00a0more</a>`}</span>`}`;
};

const linkTo = (address: string): Html => html`<a href="${address}">${new URL(address).host}</a>`;

const standing = (view: ProjectView): Html => {
  const served = servedBy(view);
  if (!served) return nothing;
  const { live, now, keys, servedSince = served.startedAt, project } = view;
  const health = live[0] && healthOf(live[0], now);
  return html`<p class="row">
    ${health ? healthBadge(health) : badge('up', 'good')}
    <span>Visitors get <a href="${deployPath(project.slug, served.number)}">deploy ${served.number}</a>, made by ${makerInWords(served.madeBy, keys)} and published ${time(servedSince, now)}.</span>
  </p>`;
};

const healthBadge = (health: DomainHealth): Html => {
  switch (health.kind) {
    case 'healthy':
      return badge('up', 'good');
    case 'at_risk':
      return badge('up, but at risk', 'busy');
    case 'certificate_expired':
      return badge('certificate expired', 'bad');
  }
};

const failure = (view: ProjectView): Html => {
  const [newest] = view.deploys;
  if (newest?.state !== 'failed') return nothing;
  const served = servedBy(view);
  const still = served ? `Visitors still get deploy ${served.number}.` : 'Nothing is published.';
  return html`<p class="notice bad" role="alert">Deploy ${newest.number} failed. ${newest.explanation} ${still}</p>`;
};

const waiting = ({ hold, own }: ProjectView): Html =>
  hold
    ? html`<p class="notice bad" role="status">${new URL(own).host} has no certificate yet, because a limit is reached: ${limitInWords(hold.reason)}. It is ordered automatically, from ${exactTime(hold.nextAt)} on.</p>`
    : nothing;

const accept = '.zip,.tar.gz,.tgz,application/zip,application/gzip';

const hint = () =>
  `A .zip, .tar.gz or .tgz with index.html at its top: ${count(siteLimits.entries)} files and ` +
  `${siteLimits.bytes / 1024 / 1024} MiB at most, unpacked.`;

const uploadForm = ({ project: { slug }, uploads, refusal, once }: ProjectView): Html =>
  html`<form method="post" action="/dashboard/projects/${slug}/deploys" enctype="multipart/form-data" class="card drop"
      aria-label="New deploy" data-upload data-largest="${siteLimits.bytes}" data-unwanted="${JSON.stringify(unwantedNames)}">
    ${onceInput(once)}
    <p data-drop-hint hidden>Drop the folder of your site here, or its archive.</p>
    ${field({ label: 'Site archive', name: uploads.field, type: 'file', accept, hint: hint() }, refusalOf(refusal, 'upload'))}
    <div class="stack progress" hidden>
      <progress aria-label="Upload"></progress>
      <div class="row between"><output></output> <button type="button" class="bare" data-cancel>Cancel</button></div>
    </div>
    <div class="row">
      <button class="main">Deploy</button>
      <button type="button" class="bare" data-choose-folder hidden>Choose a folder</button>
    </div>
  </form>`;

const howToDeploy = (isDeployable: boolean): Html =>
  empty(
    'Nothing published yet',
    isDeployable
      ? html`Upload your site above, or <a href="${helpPath('deploy-from-ci')}">deploy it from CI</a>. Visitors get it as soon as it is unpacked.`
      : 'An owner or an editor of the account can deploy a site.',
  );

interface DeployListView extends Site {
  readonly visit: Visit;
  readonly keys: KeyNames;
  readonly progress: UploadProgress | undefined;
  readonly use: AccountUse;
  readonly now: Date;
}

const deployList = (view: DeployListView): Html =>
  html`${rowList(view.deploys, Object.values(columns(view)), { idOf: ({ number }) => `deploy-${number}` })}
  <p class="hint">The last ${keptDeploys} deploys are kept, and the one that is served. All projects of your account together keep ${bytesInWords(view.use.storedBytes)} of ${bytesInWords(view.use.allowance.storedBytes)}.</p>`;

const columns = (
  view: DeployListView,
): ColumnsOf<Deploy, 'id' | 'finishedAt' | 'bytes' | 'problem' | 'explanation' | 'message'> => ({
  number: [
    'Deploy',
    'name',
    ({ number, message }) =>
      html`<a href="${deployPath(view.project.slug, number)}">Deploy ${number}</a>${message !== undefined && html` <span class="hint">${message}</span>`}`,
  ],
  state: ['Status', 'bare', (deploy) => standingOf(deploy, view)],
  files: ['Contents', 'line', (deploy) => contents(deploy, view)],
  madeBy: [
    'Made',
    'line',
    ({ madeBy, startedAt }) =>
      html`${time(startedAt, view.now)} <span class="hint">by ${makerInWords(madeBy, view.keys)}</span>`,
  ],
  startedAt: [
    'Action',
    'actions',
    (deploy) =>
      deploy.state === 'succeeded' &&
      deploy.id !== view.servedDeployId &&
      view.visit.may('deploy.use') &&
      useButton(deploy, view),
  ],
});

const contents = (deploy: Deploy, view: DeployListView): Html => {
  switch (deploy.state) {
    case 'uploading':
      return html`<span class="quiet">${progressOf(view)}</span>`;
    case 'succeeded':
      return sizeOf(deploy);
    case 'failed':
      return html`${deploy.explanation}`;
  }
};

const steps = { unpacking: 'unpacking', preparing: 'compressing', storing: 'storing' } as const;

/** With several uploads at once, we do not know which one the progress belongs to. */
const progressOf = ({ deploys, progress }: DeployListView): string => {
  const uploading = deploys.filter(({ state }) => state === 'uploading');
  if (!progress || uploading.length > 1) return 'being unpacked';
  const { step, done, total } = progress;
  const of = total === undefined ? '' : ` of ${count(total)}`;
  return `${steps[step]}: ${count(done)}${of} files`;
};
