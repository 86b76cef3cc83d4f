import * as v from 'valibot';
import { overlaps, type Overlap } from '../../../access/domain/api-key.ts';
import type { IssuedKey } from '../../../access/use-cases/create-api-key.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { keyDraft } from './draft.ts';
import { form, type Form, type Page, type Visit } from '../frame/screen.ts';

export const keysPath = '/dashboard/keys';

type Ports = Pick<DashboardPorts, 'access'>;

/** Creates a key. Its secret is shown only on the page that answers. */
export const creation = (
  { access }: Ports,
  answer: (visit: Visit, key: IssuedKey) => Promise<Page>,
): Form =>
  form({
    name: 'create-key',
    path: keysPath,
    schema: keyDraft,
    field: 'expires',
    once: true,
    act: async (visit, draft) =>
      answer(visit, await access.createApiKey({ accountId: visit.accountId, ...draft })),
  });

const overlapChoices = Object.keys(overlaps) as [Overlap, ...Overlap[]];

/** Rotates a key; its new secret is shown only there too. */
export const rotation = (
  { access }: Ports,
  answer: (visit: Visit, key: IssuedKey, overlap: Overlap) => Promise<Page>,
): Form =>
  form({
    name: 'rotate-key',
    path: `${keysPath}/:key/rotate`,
    schema: v.object({ overlap: v.picklist(overlapChoices, 'Choose one of the times.') }),
    once: true,
    act: async (visit, { overlap }) => {
      const key = await access.rotateApiKey(keyIdOf(visit), overlap, visit.accountId);
      return answer(visit, key, overlap);
    },
  });

export const revocation = ({ access }: Ports): Form =>
  form({
    name: 'revoke-key',
    path: `${keysPath}/:key/revoke`,
    schema: v.object({}),
    act: async (visit) => {
      await access.revokeApiKey(keyIdOf(visit), visit.accountId);
      return { to: keysPath, done: 'revoked' };
    },
  });

export const lift = ({ access }: Ports): Form =>
  form({
    name: 'lift-ban',
    path: `${keysPath}/:key/lift-ban`,
    schema: v.object({}),
    act: async (visit) => {
      await access.liftBan(keyIdOf(visit), visit.accountId);
      return { to: keysPath, done: 'lifted' };
    },
  });

const keyIdOf = ({ parameters: { key = '' } }: Visit): string => key;
