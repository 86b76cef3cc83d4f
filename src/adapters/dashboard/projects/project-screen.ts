import type { Context } from 'koa';
import { isVisited } from '../../../domains/domain/attachment/serving.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { notFound, PageProblem } from '../frame/page-problem.ts';
import { projectContent } from './content.ts';
import {
  bareForm,
  pathOf,
  type Form,
  type Outcome,
  type Refusal,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import { siteOf, withHost } from './site-of.ts';
import { discardRest, uploadField } from './upload-file.ts';
import { Uploads } from './uploads.ts';

const path = '/dashboard/projects/:slug';

/** One project: its site, its deploys, and the next one. */
export const projectScreen = (ports: DashboardPorts): Screen => {
  const { domains, settings, sites } = ports;
  const uploads = new Uploads({ ...ports, folder: settings.uploadFolder });
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
    const view = { ...site, addresses, progress, hold, use, refusal, now: visit.now };
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
    others: [{ method: 'POST', path: `${path}/deploys`, answer: uploading(ports, uploads, show) }],
  };
};

type DeployAct = (...deploy: Parameters<DashboardPorts['sites']['rollBack']>) => Promise<unknown>;

/** A button of a deploy. */
const deployForm = (name: 'roll-back' | 'delete', done: string, act: DeployAct): Form =>
  bareForm({
    name,
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
  (ports: DashboardPorts, uploads: Uploads, show: Screen['show']) =>
  async (visit: Visit, ctx: Context): Promise<Outcome> => {
    try {
      const { project } = await siteOf(ports, visit);
      const { state } = await uploads.take(project, ctx.req);
      const to = pathOf({ path }, visit);
      return state === 'succeeded' ? { to, done: 'deployed' } : { to };
    } catch (error) {
      if (!(error instanceof PageProblem)) throw error;
      const { status, message } = error;
      const { parameters } = visit;
      if (status === 503) ctx.set('Retry-After', '30');
      const refusal = { form: 'upload', field: uploadField, message, values: {}, parameters };
      return { ...(await show(visit, refusal)), status };
    } finally {
      discardRest(ctx.req);
    }
  };
