import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WatchedPlatformFiles } from '../../src/adapters/edge/platform-files.ts';
import { given, ordered } from '../../src/app/doctor/check-platform.ts';
import type { Certificate } from '../../src/domains/domain/certificates/renewal.ts';
import { endingShare } from '../../src/domains/domain/own/own-name.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { later } from '../support/accounts.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';

const [tom, rex, wildcard] = ['tom.sites.test', 'rex.test', '*.sites.test'];

let edge: RunningEdge;
let pair: Certificate;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

const serving = (host: string) => ({
  [`of ${host}`]: { 'index.html': host },
});

/** The names of the certificate that a visitor of the host sees. */
const namesAt = async (host: string): Promise<readonly string[]> => {
  const socket = await edge.connect(host);
  const { subjectaltname = '' } = socket.getPeerCertificate();
  socket.destroy();
  return subjectaltname.split(', ').toSorted();
};
const pairNames = ['DNS:*.sites.test', 'DNS:sites.test'];

describe("an edge with the platform's certificate in the database", () => {
  beforeAll(async () => {
    edge = await startEdge();
    pair = await edge.issue(wildcard, ['sites.test']);
    for (const host of [tom, rex]) await edge.publish(host, Object.values(serving(host))[0]!);
  });
  afterAll(() => edge.close());

  test("serves a project's own certificate until the platform's certificate arrives", async () => {
    expect(await namesAt(tom)).toEqual([`DNS:${tom}`]);
    await edge.setCertificate(pair);
    await edge.routes.refresh();
    expect(await namesAt(tom)).toEqual(pairNames);
    expect(edge.routes.platformCertificate).toMatchObject({ source: 'delegation' });
  });

  test('needs no separate certificate for a new project', async () => {
    await edge.publish('new.sites.test', { 'index.html': 'new' });
    await edge.removeCertificate('new.sites.test', later(0));
    await edge.routes.refresh();
    const answer = await edge.visit('HTTP/2', 'new.sites.test', '/');
    expect([answer.status, String(answer.body)]).toEqual([200, 'new']);
  });

  test("never serves the platform's certificate for a custom domain, a host without a project, or the platform itself", async () => {
    expect(await namesAt(rex)).toEqual([`DNS:${rex}`]);
    await edge.removeCertificate(rex, later(0));
    await edge.routes.refresh();
    for (const host of [rex, 'nobody.sites.test', 'sites.test', 'a.tom.sites.test'])
      await expect(edge.connect(host)).rejects.toThrow('unrecognized name');
  });

  test("refuses requests for another project on a project's connection, although the certificate is valid for both", async () => {
    const [status] = await edge
      .raw(tom, [...['GET / HTTP/1.1', 'Host: new.sites.test', 'Connection: close']])
      .then((answer) => answer.split('\r\n'));
    expect(status).toMatch(/^HTTP\/1\.1 421 /);
  });

  test('serves a renewed certificate at the next handshake', async () => {
    const renewed = await edge.issue(wildcard, ['sites.test']);
    await edge.setCertificate(renewed);
    await edge.routes.refresh();
    const socket = await edge.connect(tom);
    const { raw } = socket.getPeerCertificate();
    socket.destroy();
    expect(renewed.chain.replaceAll('\n', '')).toContain(raw.toString('base64'));
  });

  test("uses a project's own certificate again once the platform's certificate has expired", async () => {
    const ended = { notBefore: new Date(0), notAfter: new Date(1) };
    await edge.setCertificate({ ...pair, ...ended });
    await edge.routes.refresh();
    expect(await namesAt(tom)).toEqual([`DNS:${tom}`]);
  });

  test('refuses a removed project at once, and serves the others', async () => {
    await edge.setCertificate(pair);
    await edge.routes.refresh();
    await edge.remove(tom);
    await expect(edge.connect(tom)).rejects.toThrow('unrecognized name');
    expect(await namesAt('new.sites.test')).toEqual(pairNames);
  });
});

describe("an edge with the platform's certificate in files", () => {
  const paths = () => ({
    certificateFile: join(folder, 'platform.pem'),
    keyFile: join(folder, 'platform-key.pem'),
  });
  const logged: string[] = [];
  const log = pino({}, { write: (line) => void logged.push(line) });
  let files: WatchedPlatformFiles;
  let now: Date;
  const write = async ({ chain, privateKey }: Pick<Certificate, 'chain' | 'privateKey'>) => {
    await writeFile(paths().certificateFile, chain);
    await writeFile(paths().keyFile, privateKey);
  };

  beforeAll(async () => {
    now = new SystemClock().now();
    files = new WatchedPlatformFiles(paths(), 'sites.test', { clock: { now: () => now }, log });
    edge = await startEdge({ files });
    pair = await edge.issue(wildcard, ['sites.test']);
    await write(pair);
    await files.start();
    await edge.publish(tom, { 'index.html': 'Tom' });
  });
  afterAll(async () => {
    files.stop();
    await edge.close();
  });
  beforeEach(() => {
    logged.length = 0;
  });

  test('serves that certificate for projects', async () => {
    expect(await namesAt(tom)).toEqual(pairNames);
    expect(edge.routes.platformCertificate).toMatchObject({
      source: 'files',
      notAfter: pair.notAfter,
    });
  });

  test('serves a new certificate once the files have changed', async () => {
    const renewed = await edge.issue(wildcard, ['sites.test']);
    await write(renewed);
    await files.look();
    const socket = await edge.connect(tom);
    const { raw } = socket.getPeerCertificate();
    socket.destroy();
    expect(renewed.chain.replaceAll('\n', '')).toContain(raw.toString('base64'));
    expect(logged.join('')).toContain('read again');
    await files.look();
    expect(logged).toHaveLength(1);
    pair = renewed;
  });

  test("makes the command warn at the same share of the certificate's lifetime as the alert, and then fail", async () => {
    const { notBefore, notAfter } = pair;
    const { certificateFile, keyFile } = paths();
    const config = {
      platformHost: 'sites.test',
      platformCertificateFile: certificateFile,
      platformKeyFile: keyFile,
    };
    const stateWith = async (share: number): Promise<string | undefined> => {
      const leftMs = share * (notAfter.getTime() - notBefore.getTime());
      const { findings } = await given(config, new Date(notAfter.getTime() - leftMs));
      return findings[0]?.state;
    };
    const ofFiles = await Promise.all([0.21, 0.19, 0.06, 0.04, 0].map(stateWith));
    expect(ofFiles).toEqual(['ok', 'warning', 'warning', 'failed', 'failed']);
    const states = (['far', 'near'] as const).map((ending) => {
      const certificate = { notAfter, issuedBy: 'authority.test', ending };
      const { findings } = ordered({
        record: undefined,
        delegation: undefined,
        forbiddenBy: undefined,
        certificate,
        isEnough: true,
        failure: undefined,
      });
      return findings.at(-1)?.state;
    });
    expect(states).toEqual(['ok', 'warning']);
    const alerts = await readFile('ops/prometheus/alerts.yaml', 'utf8');
    const [, threshold] = /\/ platform_certificate_life_seconds\) < (\S+)/.exec(alerts) ?? [];
    expect(Number(threshold)).toBe(endingShare);
  });

  const broken = async (wanted: string): Promise<void> => {
    await files.look();
    await files.look();
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('cannot be used, keeping the old one');
    expect(logged[0]).toContain(wanted);
    expect(await namesAt(tom)).toEqual(pairNames);
    const other = new WatchedPlatformFiles(paths(), 'sites.test', {
      clock: { now: () => now },
      log,
    });
    await expect(other.start()).rejects.toThrow(wanted);
    await write(pair);
    await files.look();
  };

  test('keeps its certificate, and logs the problem once, when the new one is for other names', async () => {
    await write(await edge.issue(wildcard));
    await broken('PLATFORM_CERTIFICATE_FILE is not for sites.test; it must be for sites.test and');
  });

  test('keeps its certificate when the new key does not match', async () => {
    const { privateKey } = await edge.issue(wildcard, ['sites.test']);
    await write({ ...pair, privateKey });
    await broken('PLATFORM_KEY_FILE does not match the certificate');
  });

  test('keeps its certificate when the new key cannot be read', async () => {
    await write({ ...pair, privateKey: 'nonsense' });
    await broken('PLATFORM_KEY_FILE cannot be read');
  });

  test('keeps its certificate when there is no new one', async () => {
    await write({ ...pair, chain: 'nonsense' });
    await broken('PLATFORM_CERTIFICATE_FILE has no certificate');
  });

  test('keeps its certificate when the new one cannot be read', async () => {
    const chain = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    await write({ ...pair, chain });
    await broken('PLATFORM_CERTIFICATE_FILE cannot be read; it must be PEM');
  });

  test('keeps its certificate when the new chain does not match', async () => {
    const { chain } = await edge.issue('other.test');
    await write({ ...pair, chain: pair.chain + chain });
    await broken('in the wrong order');
  });

  test('keeps its certificate when a file is missing', async () => {
    await rm(paths().keyFile);
    await broken('PLATFORM_KEY_FILE cannot be read (ENOENT)');
  });

  test('keeps its certificate when the new one has expired or is not valid yet', async () => {
    const renewed = await edge.issue(wildcard, ['sites.test']);
    await write(renewed);
    now = new Date(renewed.notAfter.getTime() + 1);
    await broken('PLATFORM_CERTIFICATE_FILE expired at');
    now = new Date(renewed.notBefore.getTime() - 1);
    logged.length = 0;
    await write(renewed);
    await files.look();
    expect(logged.join('')).toContain('is not valid before');
    now = new SystemClock().now();
  });
});
