/**
 * A separate process that deploys archives one after the other to one project, with its records in `TMPDIR`: `node
 * deploy-archives.ts JSON`. Prints an `Outcome`, or "stuck" once it has stopped at the requested step.
 */
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { archiveSource } from '../../../src/adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import type { SiteSource, SourceEntry, UploadProgress } from '../../../src/sites/ports.ts';
import type { Orders, Outcome } from './deploying-process.ts';
import { listingOf } from './direct-unpacking.ts';
import { siteLab } from './site-lab.ts';
import { openStores } from '../stores.ts';

const { folder, archives, isSlow, stuckAt } = JSON.parse(process.argv[2] ?? '{}') as Orders;

const standStill = ({ step, done }: UploadProgress): void => {
  if (step !== stuckAt?.step || done !== stuckAt.done) return;
  writeSync(1, 'stuck\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

async function* slowly(entries: AsyncIterable<SourceEntry>) {
  for await (const entry of entries) {
    for (let turn = 0; turn < 1000; turn++) await setImmediate();
    yield entry;
  }
}

const sourceAt = async (path: string): Promise<SiteSource> => {
  const source = await archiveSource(path);
  return isSlow ? { ...source, entries: slowly(source.entries) } : source;
};

const site = await siteLab(await openStores('sqlite'), new FileSystemSiteFiles(folder));
const deploys = [];
for (const path of archives) deploys.push(await site.deploy(await sourceAt(path), standStill));
const outcome: Outcome = {
  deploys,
  listing: await listingOf(folder),
  largestMiB:
    Number(/VmHWM:\s+(\d+) kB/.exec(await readFile('/proc/self/status', 'utf8'))?.[1]) / 1024,
};
writeSync(1, JSON.stringify(outcome));
