import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGuard } from '../servers/debian-server.ts';

let known: string | undefined;

/**
 * A folder that exists as long as this process. Test files whose settings name no other files have equal settings, so
 * they share a process for their commands.
 */
export const lastingFolder = (): string => {
  if (known !== undefined) return known;
  known = mkdtempSync(join(tmpdir(), 'animal-store-lasting-'));
  startGuard(known);
  return known;
};
