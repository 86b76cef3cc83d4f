import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGuard } from '../servers/debian-server.ts';

let known: string | undefined;

/**
 * For files that are there as long as this process. Settings that name no other files are the same for many test files,
 * so that these share a process for their commands.
 */
export const lastingFolder = (): string => {
  if (known !== undefined) return known;
  known = mkdtempSync(join(tmpdir(), 'animal-store-lasting-'));
  startGuard(known);
  return known;
};
