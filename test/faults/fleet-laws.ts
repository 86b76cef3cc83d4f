import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SecureVisitor, unrecognizedName } from '../lab/secure-visitor.ts';
import { json, Shop } from '../lab/shop.ts';
import { until, within } from '../support/until.ts';
import type { Fleet } from './fleet.ts';
import type { Scene } from './fault.ts';

/** Usually within a second; on a busy machine a little more. */
const removedWithinMs = 10_000;
const perDay = 60;
const spentBefore = 20;
const tooMany = 20;

/**
 * What processes promise to each other, asked while the load goes on: exact quotas, and removal.
 * Call it before the fault, so that one account has spent a part of its quota by then.
 * @returns a function for after the fault
 */
export const fleetLaws = async (scene: Scene): Promise<() => Promise<readonly string[]>> => {
  await until('all count in Redis', () => countInRedis(scene));
  const ask = await openAccount(scene);
  const [first = ''] = scene.ground.origins();
  for (let n = 0; n < spentBefore; n++) await ask(first);
  return async () => {
    await until('all count in Redis', () => countInRedis(scene));
    return [...(await quotaComplaints(scene, ask)), ...(await removalComplaints(scene))];
  };
};

export const fleetOf = ({ ground }: Scene): Fleet => {
  if (!ground.fleet) throw new Error('this fault needs a fleet');
  return ground.fleet;
};

const countInRedis = async ({ ground }: Scene): Promise<boolean> => {
  const texts = ground.origins().map(async (one) => (await fetch(`${one}/metrics`)).text());
  return (await Promise.all(texts)).every((text) => /^quota_counts_locally 0/m.test(text));
};

interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly secret: string };
}

/** @returns a function that asks a process as this account, and gives the status */
const openAccount = async ({ ground }: Scene) => {
  const run = (line: string) => json<NewAccount>((args) => ground.home.run(args), line.split(' '));
  const email = `${randomBytes(4).toString('hex')}@animal-store.test`;
  const created = await run(`account create --name Zoo --email ${email} --plan enterprise`);
  const limits = `--plan enterprise --per-minute 100000 --per-day ${perDay}`;
  await run(`account set-plan --account ${created.account.id} ${limits}`);
  const headers = { Authorization: `Bearer ${created.key.secret}` };
  return async (origin: string): Promise<number> => {
    const answer = await fetch(`${origin}/v1/pets?limit=1`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
};

/** Of more concurrent requests at all processes than an account has left, exactly as many pass as it has. */
const quotaComplaints = async (
  { ground }: Scene,
  ask: (origin: string) => Promise<number>,
): Promise<readonly string[]> => {
  const left = perDay - spentBefore;
  const origins = Array.from({ length: left + tooMany }, () => ground.origins()).flat();
  const statuses = await Promise.all(origins.slice(0, left + tooMany).map(ask));
  const passed = statuses.filter((status) => status === 200).length;
  const refused = statuses.filter((status) => status === 429).length;
  if (passed === left && refused === tooMany) return [];
  return [
    `of ${left} requests that were left ${passed} passed, and ${refused} of ${tooMany} were refused`,
  ];
};

/** A domain that goes live on all edges is removed, and each of them refuses it soon. */
const removalComplaints = async (scene: Scene): Promise<readonly string[]> => {
  const { home, slug } = scene.ground;
  const { zone, edgePorts } = fleetOf(scene);
  const shop = new Shop({ accountId: '', slug, signInUrl: '' }, (args) =>
    home.run(args, scene.ground.settings),
  );
  const host = `www.${randomBytes(4).toString('hex')}.test`;
  const { records } = await shop.add(host);
  zone.create(records[0]);
  await shop.verify(host);
  const root = await readFile(join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem'), 'utf8');
  const visitors = edgePorts.map((port) => new SecureVisitor(port, root));
  const refusals = () => Promise.all(visitors.map((visitor) => visitor.refusal(host)));
  const isServed = async () => (await refusals()).every((one) => one === undefined);
  await within(60_000, `${host} is served by all`, isServed);
  await shop.remove(host);
  const isRefused = async () => (await refusals()).every((one) => one === unrecognizedName);
  return within(removedWithinMs, `${host} is refused by all`, isRefused).then(
    () => [],
    (error: unknown) => [String(error)],
  );
};
