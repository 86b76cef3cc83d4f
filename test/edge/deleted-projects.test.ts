import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  deleteProject,
  renameProject,
  restoreProject,
} from '../../src/sites/domain/project-life.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { now } from '../support/accounts.ts';
import { servedProject } from '../support/domains/custom-domains.ts';
import { closed } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';

let edge: RunningEdge;
let project: Project;
let host: string;
beforeEach(async () => {
  edge = await startEdge();
  project = await servedProject(edge.stores);
  host = hostOf(project.slug);
  await edge.setCertificate(await edge.issue(host));
  await edge.routes.refresh();
});
afterEach(() => edge.close());

const hostOf = (slug: string) => `${slug}.sites.test`;
const unknown = { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' };

test('a deleted project becomes an unknown host: its connections end, and new ones are refused', async () => {
  const socket = await edge.connect(host);
  const end = closed(socket);
  const { projects } = edge.stores;
  await projects.change(project, (site) => deleteProject(site, now));
  await edge.routes.refresh();
  await end;
  await expect(edge.connect(host)).rejects.toMatchObject(unknown);
  await projects.restore(project, (site) => restoreProject(site, now));
  await edge.routes.refresh();
  const again = await edge.connect(host);
  const ended = closed(again);
  again.end();
  await ended;
});

test('a former address redirects to the new one, with its certificate, path and query', async () => {
  const slug = `${project.slug}-new`;
  await edge.stores.projects.change(project, (site) =>
    renameProject(site, { name: site.project.name, slug }, now),
  );
  await edge.routes.refresh();
  const { status, headers } = await edge.get(host, '/shop/a?b=c');
  expect([status, headers['location']]).toEqual([308, `https://${hostOf(slug)}/shop/a?b=c`]);
});
