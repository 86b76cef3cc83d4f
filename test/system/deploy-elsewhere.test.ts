import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { documentedBlocks } from '../support/documented-commands.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';
import { Operators } from '../support/service/operator.ts';
import type { Settings } from '../support/service/service-process.ts';
import { tgzOf } from '../support/sites/archive-bytes.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';

let api: RunningApi;
let key: string;
let project: Project;
/** The home folder of a machine without the service. */
let laptop: string;
beforeAll(async () => {
  api = await startApi('sqlite');
  ({ secret: key } = await api.newKey({ scopes: ['deploys:write'] }));
});
afterAll(() => api.close());
let projects = 0;
beforeEach(async () => {
  laptop = await mkdtemp(join(tmpdir(), 'animal-store-laptop-'));
  project = await api.container
    .get(SitesKey)
    .startProject(api.account.id, `Shop ${(projects += 1)}`);
});
afterEach(() => rm(laptop, { recursive: true }));

const deploy = (source: string, rest: readonly string[], env: Settings = {}) => {
  const args = ['deploy', source, '--project', project.slug, ...rest];
  return new Operators(laptop).run(args, { ANIMAL_STORE_KEY: key, ...env }, 0);
};

const folder = () =>
  plainTree(join(laptop, 'dist'), {
    'index.html': '<h1>Rex</h1>',
    'img/rex.txt': 'x'.repeat(100_000),
    '.DS_Store': '',
  });
const deploys = async () => (await api.container.get(SitesKey).getSite(project.slug)).deploys;

describe('animal-store deploy --to', () => {
  test('publishes a folder from a machine without the service, and leaves nothing there', async () => {
    await folder();
    const rest = ['--to', api.origin, '--message', 'Fix the prices', '--json'];
    // Settings with which a service would refuse to start do not matter here.
    const { code, stdout, stderr } = await deploy('dist', rest, { NODE_ENV: 'production' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const url = `https://${project.slug}.sites.animal-store.test:8443/`;
    expect(JSON.parse(stdout)).toEqual({
      deploy: {
        number: 1,
        status: 'succeeded',
        files: 2,
        bytes: 100_012,
        url,
        previewUrl: expect.stringContaining(`//${project.slug}--1.`),
      },
      url,
    });
    expect(await deploys()).toMatchObject([{ message: 'Fix the prices', files: 2 }]);
    expect(await readdir(laptop)).toEqual(['dist']);
  });

  test('publishes an archive, and prints its address', async () => {
    await writeFile(join(laptop, 'site.tgz'), await tgzOf({ name: 'index.html', content: 'Rex' }));
    const { code, stdout } = await deploy('site.tgz', ['--to', api.origin]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Deploy 1: 1 file, 3 B\.\nhttps:\/\/shop-[^]+\nPreview: http/),
    ]);
  });

  test('says why a folder is not a site before it sends anything', async () => {
    await plainTree(join(laptop, 'source'), { 'index.html': 'a', '.env': 'KEY=1' });
    const { code, stderr } = await deploy('source', ['--to', api.origin]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('has ".env" at its top')]);
    expect(await deploys()).toEqual([]);
  });

  test('prints the refusal of the service, and exits with 1', async () => {
    await writeFile(join(laptop, 'site.tgz'), await tgzOf({ name: 'a.txt', content: 'a' }));
    const { code, stdout } = await deploy('site.tgz', ['--to', api.origin, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      { deploy: { status: 'failed', explanation: expect.stringMatching(/index.html/) }, url: null },
    ]);
  });

  test('says what is wrong with the key, and does not retry', async () => {
    await folder();
    const { code, stderr } = await deploy('dist', ['--to', api.origin], {
      ANIMAL_STORE_KEY: api.account.key,
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('the scope deploys:write')]);
  });

  test.each([
    ['plain http to another machine', ['--to', 'http://api.example.com']],
    ['an address with a path', ['--to', 'https://api.example.com/v1']],
    ['no address', ['--to', 'nonsense']],
    ['no key', ['--to', 'https://api.example.com']],
  ])('exits with 2 when it is used incorrectly with %s', async (what, rest) => {
    const given = what === 'no key' ? { ANIMAL_STORE_KEY: '' } : {};
    const { code, stderr } = await deploy('dist', rest, given);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/Use an origin|Set ANIMAL_STORE_KEY/),
    ]);
  });

  test('retries after a broken connection or a busy service, and deploys once', async () => {
    await folder();
    const { port } = new URL(api.origin);
    let connections = 0;
    // The first answer is lost after the service created it; the second comes from a proxy.
    const busy = createServer((_, response) =>
      response.writeHead(503, { 'Retry-After': '1' }).end(),
    );
    await once(busy.listen(0, '127.0.0.1'), 'listening');
    const between = createTcpServer((client) => {
      connections += 1;
      const target = connections === 2 ? (busy.address() as AddressInfo).port : Number(port);
      const service = connect(target, '127.0.0.1');
      client.on('error', () => service.destroy()).pipe(service);
      service.on('error', () => client.destroy());
      if (connections === 1) service.once('data', () => client.destroy());
      else service.pipe(client);
    });
    await once(between.listen(0, '127.0.0.1'), 'listening');
    const to = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const { code, stdout } = await deploy('dist', ['--to', to, '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { deploy: { number: 1 } }]);
    expect(await deploys()).toHaveLength(1);
    expect(connections).toBeGreaterThanOrEqual(4);
    between.close();
    busy.close();
  });
});

describe('the steps in docs/deploy-from-ci.md', () => {
  const message = 'Füttern: fix the prices';

  interface Job {
    readonly env?: Readonly<Record<string, string>>;
    readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
    readonly script?: readonly string[];
  }

  const documented = (heading: string): string =>
    documentedBlocks('docs/deploy-from-ci.md').find((block) => block.heading === heading)?.text ??
    '';

  /** Takes the place of the repository's checkout. */
  const checkOut = async (): Promise<void> => {
    const build = `mkdir dist && echo '<h1>Built</h1>' > dist/index.html`;
    const about = { name: 'shop', version: '1.0.0' };
    await plainTree(laptop, {
      'package.json': JSON.stringify({ ...about, scripts: { build } }),
      'package-lock.json': JSON.stringify({
        ...about,
        lockfileVersion: 3,
        packages: { '': about },
      }),
    });
  };

  /** @param shell with the options that the CI system uses */
  const follow = async (shell: string, script: string, env: NodeJS.ProcessEnv): Promise<void> => {
    const its = { PATH: process.env['PATH'], ...env };
    await promisify(execFile)('bash', [...shell.split(' '), script], { cwd: laptop, env: its });
  };

  const isDeployedOnce = async (): Promise<void> => {
    expect(await deploys()).toMatchObject([{ state: 'succeeded', message, files: 1 }]);
  };

  test('deploy from GitHub Actions, and only once even if the last step is repeated', async () => {
    const { jobs } = parse(documented('## GitHub Actions')) as { jobs: { deploy: Job } };
    const known: Readonly<Record<string, string>> = {
      'vars.ORIGIN': api.origin,
      'vars.SLUG': project.slug,
      'secrets.ANIMAL_STORE_KEY': key,
      'github.run_id': '1658821493',
      'github.sha': 'ffac53',
      'github.event.head_commit.message': `${message}\n\nThey were wrong since Monday.`,
    };
    const filledIn = (text: string): string =>
      text.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, name: string) => {
        expect(Object.keys(known)).toContain(name);
        return known[name] ?? '';
      });
    const { env = {}, steps = [] } = jobs.deploy;
    const its = Object.fromEntries(
      Object.entries(env).map(([name, text]) => [name, filledIn(text)]),
    );
    const [first, ...others] = steps;
    expect(first).toEqual({ uses: expect.stringMatching(/^actions\/checkout@v\d+$/) });
    await checkOut();
    const scripts = others.map(({ run: script = '' }) => filledIn(script));
    for (const script of [...scripts, ...scripts.slice(-1)]) {
      await follow('-e -c', script, its);
    }
    await isDeployedOnce();
  });

  test('deploy from GitLab', async () => {
    const { deploy: job } = parse(documented('## GitLab')) as { deploy: Job };
    await checkOut();
    await follow('-eo pipefail -c', (job.script ?? []).join('\n'), {
      ORIGIN: api.origin,
      SLUG: project.slug,
      ANIMAL_STORE_KEY: key,
      CI_JOB_ID: '1234',
      CI_COMMIT_SHA: 'ffac53',
      CI_COMMIT_TITLE: message,
    });
    await isDeployedOnce();
  });

  test('deploy with the command', async () => {
    await plainTree(laptop, { 'dist/index.html': '<h1>Built</h1>' });
    const main = join(import.meta.dirname, '../../src/main.ts');
    const alias = `animal-store() { ${process.execPath} ${main} "$@"; }\n`;
    const env = { ORIGIN: api.origin, SLUG: project.slug, ANIMAL_STORE_KEY: key };
    await follow('-e -c', alias + documented('## The command'), env);
    expect(await deploys()).toMatchObject([{ message: 'Fix the prices', files: 1 }]);
  });
});
