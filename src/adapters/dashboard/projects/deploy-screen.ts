import { bytesInWords } from '../../../kernel/text.ts';
import type { Deploy, Site } from '../../../sites/domain/site.ts';
import type { StoredFile } from '../../../sites/ports.ts';
import { confirmedForm, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { notFound } from '../frame/page-problem.ts';
import { queryText } from '../frame/paths.ts';
import { empty, facts, fullTime, head, known, listPart, pager, table } from '../frame/parts.ts';
import { bareForm, type Form, type Refusal, type Screen, type Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  deployPath,
  keyNames,
  makerInWords,
  sizeOf,
  standingOf,
  useButton,
} from './deploy-parts.ts';
import { siteOf } from './project-head.ts';

const path = '/dashboard/projects/:slug/deploys/:number';
const filesOnPage = 200;

export const deployScreen = (ports: DashboardPorts): Screen => {
  const { sites } = ports;
  return {
    path,
    section: 'projects',
    help: 'sites',
    live: 'often',
    show: (visit, refusal) => showDeploy(ports, visit, refusal),
    forms: [
      deployForm({ name: 'roll-back', operation: 'deploy.use' }, 'rolled-back', sites.rollBack),
      deployForm(
        { name: 'delete', operation: 'deploy.delete', once: true },
        'deleted',
        sites.deleteDeploy,
      ),
    ],
  };
};

type DeployAct = (...deploy: Parameters<DashboardPorts['sites']['rollBack']>) => Promise<unknown>;

const deployForm = (
  of: Pick<Form, 'name' | 'operation' | 'once'>,
  done: string,
  act: DeployAct,
): Form =>
  bareForm({
    ...of,
    path: `${path}/${of.name}`,
    act: async (visit) => {
      const { slug = '' } = visit.parameters;
      await act({ accountId: visit.accountId, slug }, numberOf(visit));
      return { to: `/dashboard/projects/${slug}`, done };
    },
  });

const numberOf = ({ parameters: { number = '' } }: Visit): number => {
  if (!/^[1-9]\d{0,8}$/.test(number)) throw notFound();
  return Number(number);
};

const showDeploy = async (ports: DashboardPorts, visit: Visit, refusal?: Refusal) => {
  const number = numberOf(visit);
  const site = await siteOf(ports, visit);
  const deploy = site.deploys.find((one) => one.number === number);
  if (!deploy) throw notFound();
  const { project } = site;
  const isWhole = deploy.state === 'succeeded';
  const view = {
    site,
    deploy,
    visit,
    keys: await keyNames(ports, visit.accountId),
    preview: isWhole ? await ports.settings.previewUrl(project.slug, number) : undefined,
    files: isWhole ? await ports.sites.listFiles(deploy.id) : [],
    refusal,
    once: ports.ids.next('form'),
  };
  return { title: `Deploy ${String(number)} of ${project.name}`, content: deployContent(view) };
};

interface DeployView {
  readonly site: Site;
  readonly deploy: Deploy;
  readonly visit: Visit;
  readonly keys: Awaited<ReturnType<typeof keyNames>>;
  readonly preview: string | undefined;
  readonly files: readonly StoredFile[];
  readonly refusal: Refusal | undefined;
  readonly once: string;
}

const deployContent = (view: DeployView): Html => {
  const { site, deploy, refusal } = view;
  const { name, slug } = site.project;
  return html`
    ${head(`Deploy ${String(deploy.number)}`, deploy.message, {
      trail: [
        ['Projects', '/dashboard'],
        [name, `/dashboard/projects/${slug}`],
      ],
      beside: standingOf(deploy, site),
      actions: actions(view),
    })}
    ${formError(refusal)}
    ${deploy.state === 'failed' && html`<p class="notice bad">It failed. ${deploy.explanation}</p>`}
    ${deploy.state === 'uploading' && html`<p class="notice" role="status">It is being unpacked.</p>`}
    ${facts(factsOf(view))}
    ${deploy.state === 'succeeded' && filesOf(view)}`;
};

const factsOf = ({ site, deploy, visit: { now }, keys }: DeployView) =>
  known([
    ['Made by', makerInWords(deploy.madeBy, keys)],
    ['Started', fullTime(deploy.startedAt, now)],
    site.servedDeployId === deploy.id &&
      site.servedSince !== undefined && ['Served since', fullTime(site.servedSince, now)],
    deploy.state === 'succeeded' && ['Contents', sizeOf(deploy)],
  ]);

const actions = ({ site, deploy, visit, preview, once }: DeployView): Html => {
  const isServed = deploy.id === site.servedDeployId;
  const isOver = deploy.state !== 'uploading';
  return html`
    ${preview !== undefined && html`<a class="button" href="${preview}" rel="noreferrer">Preview</a>`}
    ${deploy.state === 'succeeded' && !isServed && visit.may('deploy.use') && useButton(deploy, site, { isMain: true })}
    ${isOver && !isServed && visit.may('deploy.delete') && deleteButton(deploy, site, once)}`;
};

const deleteButton = ({ number, state }: Deploy, { project: { slug } }: Site, once: string): Html =>
  confirmedForm({
    id: 'delete',
    label: 'Delete deploy',
    about: `Delete deploy ${String(number)}`,
    question: `Delete deploy ${String(number)}?`,
    consequences:
      state === 'failed'
        ? 'It is removed from the list. It has no files.'
        : 'Its files and its preview are deleted. Visitors still get the deploy that is served. This cannot be undone.',
    confirm: 'Delete deploy',
    action: `${deployPath(slug, number)}/delete`,
    once,
  });

const filesOf = ({ files, visit, site, deploy }: DeployView): Html => {
  if (files.length === 0) return empty('No files', 'They are not in the storage at the moment.');
  const first = Math.max(0, Number(visit.query.get('from')) || 0);
  const { shown, last } = listPart(files.slice(first, first + filesOnPage + 1), filesOnPage);
  const base = deployPath(site.project.slug, deploy.number);
  return html`<section>
    <h2>Files</h2>
    ${table(shown, [
      ['Path', 'name', ({ path: file }: StoredFile) => html`<code>${file}</code>`],
      ['Size', 'number', ({ bytes }: StoredFile) => bytesInWords(bytes)],
    ])}
    ${
      files.length > filesOnPage
        ? pager({
            first: first > 0 ? base : undefined,
            next: last ? `${base}${queryText({ from: String(first + filesOnPage) })}` : undefined,
            order: 'other',
          })
        : nothing
    }
  </section>`;
};
