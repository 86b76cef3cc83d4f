import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findFreePort } from '../support/servers/debian-server.ts';
import { closed, edgeClient, type EdgeClient } from '../support/http/edge-client.ts';
import { complaintsOf } from '../support/service/service-log.ts';
import {
  newHome,
  printedAccount,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

const host = 'birds.sites.animal-store.test';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-site-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Edge {
  readonly service: Service;
  client(): Promise<EdgeClient>;
}

const startEdge = async (home: Home): Promise<Edge> => {
  const [port, http, https] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const service = await home.start({
    PORT: String(port),
    EDGE_HTTP_PORT: String(http),
    EDGE_HTTPS_PORT: String(https),
  });
  const root = join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem');
  return {
    service,
    client: async () => edgeClient({ http, https }, await readFile(root, 'utf8')),
  };
};

const run = async (home: Home, ...args: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await home.run([...args, '--json']);
  if (code !== 0) throw new Error(stdout + stderr);
  return JSON.parse(stdout);
};

const startProject = async (home: Home, { service }: Edge): Promise<void> => {
  await run(home, 'project', 'create', '--account', printedAccount(service), '--name', 'Birds');
};

const deploy = async (home: Home, page: string): Promise<void> => {
  await mkdir(join(folder, page), { recursive: true });
  await writeFile(join(folder, page, 'index.html'), page);
  const done = await run(home, 'deploy', join(folder, page), '--project', 'birds');
  expect(done).toMatchObject({ deploy: { status: 'succeeded', files: 1, bytes: page.length } });
  expect((done as { readonly url: string }).url).toMatch(
    /^https:\/\/birds\.sites\.animal-store\.test:[1-9]\d+\/$/,
  );
};

const pageOf = async (edge: Edge): Promise<string> =>
  String((await (await edge.client()).get(host, '/')).body);

const served = async (edge: Edge, page: string): Promise<void> => {
  await until(`${page} is served`, async () => {
    return (await pageOf(edge).catch(() => '')) === page;
  });
};

describe('a service on SQLite', () => {
  let home: Home;
  let edge: Edge;
  beforeAll(async () => {
    home = await newHome('sqlite');
  });
  afterAll(() => home.remove());

  test('serves deploys from the command line, and continues after a restart', async () => {
    edge = await startEdge(home);
    await startProject(home, edge);
    for (const page of ['one', 'two']) {
      await deploy(home, page);
      await served(edge, page);
    }

    const client = await edge.client();
    const redirect = await client.plain([
      'GET /a?b HTTP/1.1',
      `Host: ${host}:${client.ports.http}`,
      'Connection: close',
    ]);
    expect(redirect).toContain(`\r\nLocation: https://${host}:${client.ports.https}/a?b\r\n`);
    await expect(client.connect('dogs.sites.animal-store.test')).rejects.toHaveProperty(
      'code',
      'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
    );

    const kept = closed(await client.session(host));
    expect(await edge.service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await kept;

    edge = await startEdge(home);
    expect(await pageOf(edge)).toBe('two');
    expect(complaintsOf(edge.service)).toEqual([]);
  });

  test('keeps serving the same site when a deploy is refused', async () => {
    const before = await pageOf(edge);
    await mkdir(join(folder, 'empty'));
    const args = ['deploy', join(folder, 'empty'), '--project', 'birds', '--json'];
    const { code, stdout } = await home.run(args);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { deploy: { status: 'failed', problem: 'archive_without_index' } },
    ]);
    expect(await pageOf(edge)).toBe(before);
  });
});
