import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { connectAsAdmin } from '../support/servers/mysql-admin.ts';
import { newHome, type Home, type Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

const secretKey = '8c1e5b0f72d94a36c0d7e1f9b3a68245';
const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8);

describe('animal-store', () => {
  let home: Home;
  let folder: string;
  beforeEach(async () => {
    home = await newHome('sqlite');
    folder = home.settings['DATA_DIR'] ?? '';
  });
  afterEach(() => home.remove());

  const production = { NODE_ENV: 'production', SECRET_KEY: secretKey };
  const refusal = async (settings: Settings): Promise<string> => {
    const { code, stderr } = await home.run(['serve'], settings);
    expect(code).toBe(1);
    return stderr;
  };

  test('refuses unsafe settings in production, and says why', async () => {
    const all = await refusal({
      ...production,
      SECRET_KEY: 'a'.repeat(32),
      PUBLIC_URL: 'http://app.zoo.example/v1',
      PLATFORM_HOST: 'zoo.example',
    });
    expect(all).toMatch(/have 3 faults/);
    expect(all).toMatch(/^ {2}SECRET_KEY: .*openssl rand -hex 32$/m);
    expect(all).toMatch(/^ {2}PUBLIC_URL: .*https.*passwords/m);
    expect(all).toMatch(/^ {2}PLATFORM_HOST: .*cookies/m);
    expect(all).not.toContain('a'.repeat(32));
  });

  test('starts in production without an account, makes its database private, and warns of what others can reach', async () => {
    const database = join(folder, 'own.db');
    await mkdir(folder);
    await chmod(folder, 0o755);
    await writeFile(database, '');
    await chmod(database, 0o644);
    const service = await home.start({ ...production, DATABASE_URL: `sqlite:${database}` });
    expect(await modeOf(database)).toBe('600');
    await service.end('SIGTERM');
    expect(service.stdout()).not.toMatch(/pets_live_|acct_/);
    const warnings = service.stdout().match(/^\{"level":40.*$/gm) ?? [];
    const warningsOf = (words: string) => warnings.filter((line) => line.includes(words));
    expect(warningsOf('PUBLIC_URL is http:')).toHaveLength(1);
    expect(warningsOf('is open to other users (mode 755)')).toHaveLength(1);
    expect(warningsOf('runs as root')).toHaveLength(process.getuid?.() === 0 ? 1 : 0);
    expect(await refusal({ NODE_ENV: 'production' })).toContain('SECRET_KEY');
  });

  test('does not start with an unusable platform certificate, and says what is needed', async () => {
    const [certificate, key] = [join(folder, 'platform.pem'), join(folder, 'platform-key.pem')];
    const files = { PLATFORM_CERTIFICATE_FILE: certificate, PLATFORM_KEY_FILE: key };
    expect(await refusal({ PLATFORM_CERTIFICATE_FILE: certificate })).toContain(
      'PLATFORM_CERTIFICATE_FILE, PLATFORM_KEY_FILE: set both or neither',
    );
    expect(await refusal(files)).toContain('PLATFORM_CERTIFICATE_FILE cannot be read (ENOENT)');
    const checked = await home.run(['config', 'check'], files);
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringContaining('Certificate: PLATFORM_CERTIFICATE_FILE cannot be read (ENOENT)'),
    ]);
    expect((await home.run(['config', 'check'], { ...files, ROLES: 'api' })).code).toBe(0);
    await writeFile(certificate, 'nonsense');
    await writeFile(key, 'nonsense');
    const { code, stdout } = await home.run(['platform', 'check'], files);
    expect([code, stdout]).toEqual([1, expect.stringContaining('it must have one in PEM form')]);
    const doctor = await home.run(['doctor'], files);
    expect(doctor.stdout).toMatch(/^failed +platform .*it must have one in PEM form/m);
    expect(doctor.stdout).toMatch(/^ok +backups +No backup of this database has been made yet/m);
    expect((await home.run(['doctor'], { ...files, ROLES: 'api' })).stdout).not.toContain(
      ' platform ',
    );
  });

  test('closes its connections and ends when the start fails after the database was opened', async () => {
    const { url } = await migratedDatabase('mysql');
    const admin = await connectAsAdmin(url);
    await admin.order('alter table certificate_orders drop column sealed_by');
    admin.close();
    const service = home.begin({ DATABASE_URL: url });
    await until('it has ended', () => service.hasEnded());
    expect(service.stderr()).toContain('sealed_by');
    expect(await service.end()).toEqual({ code: 1, signal: null });
  });

  test('ends after a failed start, even when something in it stays open', async () => {
    const open = '--import data:text/javascript,setInterval(()=>0,1e6)';
    const { code, stderr } = await home.execute(['serve'], { NODE_OPTIONS: open, PORT: 'none' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('PORT: must be a port number')]);
  });

  test('creates every file for its own user only, above all its secret key', async () => {
    const database = join(folder, 'own.db');
    const service = await home.start({ DATABASE_URL: `sqlite:${database}` });
    const modes = async () =>
      Promise.all(
        (await readdir(folder)).map(async (name) => [name, await modeOf(join(folder, name))]),
      );
    const made = await until('the database and its companions are there', async () => {
      const found = await modes();
      return found.filter(([name = '']) => name.startsWith('own.db')).length === 3 && found;
    });
    for (const [name, mode] of made) {
      // The root of the local authority is public, so others may read it.
      if (name !== 'local-ca.pem')
        expect([name, mode]).toEqual([name, expect.stringMatching(/^[67]00$/)]);
    }
    expect(await modeOf(join(folder, 'secret.key'))).toBe('600');
    expect(await modeOf(folder)).toBe('700');
    await service.end('SIGTERM');
  });

  test('shows its settings without secrets, and without users or passwords in addresses', async () => {
    const settings = {
      DATABASE_URL: 'mysql://zookeeper:hunter2@p2ssword@db.example:3306/shop',
      REDIS_URL: 'rediss://zookeeper:hunter2@redis.example:6380/1?password=hunter2',
      ACME_EAB_KID: 'kid-1',
      ACME_EAB_HMAC: 'aHVudGVyMg-hunter2',
      ACME_DIRECTORY_URL: 'https://acme.example/directory',
      SECRET_KEY: secretKey,
      SECRET_KEY_PREVIOUS: 'p'.repeat(32),
    };
    for (const args of [
      ['config', 'check'],
      ['config', 'check', '--json'],
    ]) {
      const { code, stdout, stderr } = await home.run(args, settings);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('db.example:3306/shop');
      expect(stdout).not.toMatch(/zookeeper|hunter2|p2ssword|pppp/);
      expect(stdout).toMatch(/SECRET_KEY"?: ?"?set/);
      expect(stdout).not.toContain(secretKey);
    }
  });
});
