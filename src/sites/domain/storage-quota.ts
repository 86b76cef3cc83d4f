import type { Allowance } from './project.ts';
import { DomainError } from '../../kernel/decision.ts';
import { bytesInWords } from '../../kernel/text.ts';
import { deploySucceeded, type Site } from './site.ts';
import type { UploadProblem } from './sites-error.ts';

export interface StorageFacts {
  readonly allowance: Pick<Allowance, 'plan' | 'storedBytes'>;
  readonly elsewhere: number;
}

/** How much one deploy may store. Plain values, because another thread may enforce it. */
export interface StorageRoom {
  readonly plan: string;
  readonly quota: number;
  readonly left: number;
}

export const keptBytes = ({ deploys }: Site): number =>
  deploys.reduce((sum, one) => sum + (one.state === 'succeeded' ? one.bytes : 0), 0);

/** Counts deploys that the new one will replace as free. @throws DomainError `deploy_wrong_state` if it was given up */
export const roomFor = (
  site: Site,
  deployId: string,
  { allowance, elsewhere }: StorageFacts,
  now: Date,
): StorageRoom => {
  const { state } = deploySucceeded(site, deployId, { files: 0, bytes: 0 }, now);
  const { plan, storedBytes: quota } = allowance;
  return { plan, quota, left: Math.max(0, quota - elsewhere - keptBytes(state)) };
};

/** @throws DomainError `storage_quota_reached` */
export const admitBytes = (bytes: number, room: StorageRoom): void => {
  if (bytes <= room.left && room.left > 0) return;
  const left =
    room.left > 0
      ? `${bytesInWords(room.left)} are left, which is less than this deploy needs`
      : 'nothing is left';
  throw new DomainError<UploadProblem>(
    'storage_quota_reached',
    `The plan ${room.plan} keeps ${bytesInWords(room.quota)} of files for all projects together, and ${left}. ` +
      `Delete deploys that you no longer need, or ask the operator for a larger plan.`,
  );
};
