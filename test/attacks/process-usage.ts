import { readdir, readFile } from 'node:fs/promises';

/** What a process holds at a moment. */
export interface ProcessUsage {
  readonly descriptors: number;
  readonly residentMiB: number;
}

/** From `/proc` of Linux. */
export const usageOf = async ({ pid }: { readonly pid: number }): Promise<ProcessUsage> => {
  const [descriptors, status] = await Promise.all([
    readdir(`/proc/${String(pid)}/fd`),
    readFile(`/proc/${String(pid)}/status`, 'utf8'),
  ]);
  const [, residentKiB] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return { descriptors: descriptors.length, residentMiB: Number(residentKiB) / 1024 };
};
