import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ground } from './ground.ts';
import { accountLimit } from './load-record.ts';
import { within } from '../support/until.ts';
import type { FaultLoad } from './fault-load.ts';

export interface AccountUse {
  readonly requests: number;
  readonly day: number;
}

/** How many requests the account has used today, including this one. */
export const usedOf = async ({
  origins,
  key,
}: Pick<Ground, 'origins' | 'key'>): Promise<AccountUse> => {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${origins()[0] ?? ''}/v1/pets?limit=1`, { headers });
  await answer.arrayBuffer();
  return {
    requests: accountLimit - Number(answer.headers.get('X-RateLimit-Remaining')),
    day: Math.floor(Date.now() / 86_400_000),
  };
};

/** The outcomes of the acknowledged writes. */
interface Lawful {
  readonly lost: number;
  readonly doubled: number;
  /** Sentences; empty if all laws hold. */
  readonly complaints: readonly string[];
}

const mostRepeats = 200;
const usuallyDeliveredWithinMs = 3_000;
const deliveredWithinMs = 120_000;

/**
 * Checks that nothing acknowledged is lost, nothing is stored twice, and each animal, order, domain and
 * failed deploy has its event, and each event all its deliveries: no file of a failed deploy is left.
 */
export const lawsOf = async (ground: Ground, load: FaultLoad): Promise<Lawful> => {
  const complaints: string[] = [];
  const complain = (count: number, what: string) => {
    if (count > 0) complaints.push(`${count} ${what}`);
  };
  complain(await wronglyRepeated(ground, load), 'repeats under a key did not get the first answer');
  complaints.push(...(await delivered(ground)));
  const animals = await judgeAnimals(ground, load);
  const sales = await judgeSales(ground, load);
  const domains = await judgeDomains(ground, load);
  const uploads = await judgeUploads(ground, load);
  complain(animals.strangers, 'animals are stored that nobody sent');
  complain(animals.untold, 'animals have not exactly one event');
  complain(sales.untold, 'orders have not exactly one event and one sold animal');
  complain(domains.untold, 'domains have not exactly one event');
  complain(uploads.untold, 'failed deploys have not exactly one event');
  complain(uploads.left, 'failed deploys still have files');
  const all = [animals, sales, domains];
  const lost = all.reduce((sum, one) => sum + one.lost, uploads.lost);
  const doubled = all.reduce((sum, one) => sum + one.doubled, 0);
  complain(lost, 'acknowledged writes are lost');
  complain(doubled, 'writes are stored twice');
  return { lost, doubled, complaints };
};

/** Repeats every write that was sent several times during the fault: it must get the first answer again. */
const wronglyRepeated = async (ground: Ground, load: FaultLoad): Promise<number> => {
  const latest = [...load.acknowledged].filter(([name]) => name.includes(' keyed ')).slice(-20);
  const chosen = [...load.repeated, ...latest.map(([name, id]) => ({ name, id }))];
  let wrong = 0;
  for (const { name, id } of chosen.slice(-mostRepeats)) {
    const answer = await within(60_000, 'the repeat is answered', () => repeat(ground, name));
    if (answer.id !== id) wrong += 1;
  }
  return wrong;
};

const repeat = async ({ origins, key }: Ground, name: string) => {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': `key of ${name}`,
  };
  const body = JSON.stringify({ name, categoryId: 1 });
  const url = `${origins()[0] ?? ''}/v1/pets`;
  const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
  if (answer === undefined || [409, 503].includes(answer.status)) return undefined;
  return (await answer.json()) as { readonly id?: number };
};

/** Waits until the leases of unfinished deliveries end after a minute. */
const delivered = async ({ facts }: Ground): Promise<readonly string[]> => {
  const isEmpty = async () => (await facts.undelivered()).waiting === 0;
  const soon = within(usuallyDeliveredWithinMs, 'all are delivered', isEmpty);
  await soon.catch(() => facts.endLeases());
  const late = await within(deliveredWithinMs, 'all are delivered', isEmpty).then(
    () => [],
    async () => [`${(await facts.undelivered()).waiting} deliveries still wait`],
  );
  const { parked } = await facts.undelivered();
  return parked > 0 ? [...late, `${parked} deliveries were given up`] : late;
};

const judgeAnimals = async ({ facts }: Ground, load: FaultLoad) => {
  const ours = (await facts.pets()).filter(({ name }) => name.startsWith(`${load.label} `));
  const ids = Map.groupBy(ours, ({ name }) => name);
  const told = countsOf((await facts.told('pet_added')).map(({ petId }) => Number(petId)));
  const isLost = ([name, id]: readonly [string, number]) =>
    !ids.get(name)?.some((stored) => stored.id === id);
  return {
    lost: [...load.acknowledged].filter(isLost).length,
    doubled: [...ids.values()].filter((stored) => stored.length > 1).length,
    strangers: [...ids.keys()].filter(
      (name) => !load.acknowledged.has(name) && !load.inDoubt.has(name),
    ).length,
    untold: ours.filter(({ id }) => told.get(id) !== 1).length,
  };
};

const judgeSales = async ({ facts }: Ground, { clerk }: FaultLoad) => {
  const ordered = countsOf(await facts.ordered());
  const sold = new Set(await facts.petsThatAre('sold'));
  const told = countsOf((await facts.told('pet_sold')).map(({ petId }) => Number(petId)));
  return {
    lost: clerk.sold.filter((id) => !ordered.has(id)).length,
    doubled: [...ordered.values()].filter((count) => count > 1).length,
    untold: [...ordered.keys()].filter((id) => told.get(id) !== 1 || !sold.has(id)).length,
  };
};

const judgeDomains = async ({ facts }: Ground, { clerk }: FaultLoad) => {
  const stored = countsOf(await facts.domains());
  const told = countsOf((await facts.told('domain_added')).map(({ host }) => host ?? ''));
  return {
    lost: clerk.domains.filter((host) => !stored.has(host)).length,
    doubled: [...stored.values()].filter((count) => count > 1).length,
    untold: [...stored.keys()].filter((host) => told.get(host) !== 1).length,
  };
};

const judgeUploads = async ({ facts, home }: Ground, { clerk, failedBefore }: FaultLoad) => {
  const told = countsOf((await facts.told('deploy_failed')).map(({ deployId }) => deployId ?? ''));
  const folders = await readdir(join(home.settings['DATA_DIR'] ?? '', 'deploys'));
  return {
    lost: Math.max(0, clerk.refused - (told.size - failedBefore)),
    untold: (await facts.failedDeploys()).filter((id) => told.get(id) !== 1).length,
    left: folders.filter((name) => told.has(name.replace(/^\.|\.partial$/g, ''))).length,
  };
};

const countsOf = <Key>(keys: readonly Key[]): ReadonlyMap<Key, number> => {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};
