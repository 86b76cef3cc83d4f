import * as v from 'valibot';
import { overlaps, type Overlap } from '../../../access/domain/api-key.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { keyDraft } from './draft.ts';
import { shownKey } from './secret.ts';
import { bareForm, form, type Form, type Visit } from '../frame/screen.ts';

export const keysPath = '/dashboard/keys';

type Ports = Pick<DashboardPorts, 'access' | 'settings'>;

export const creation = ({ access, settings }: Ports): Form =>
  form({
    name: 'create-key',
    path: keysPath,
    schema: keyDraft,
    field: 'expires',
    once: true,
    act: async ({ accountId, now }, draft) => {
      const key = await access.createApiKey({ accountId, ...draft });
      return { ...shownKey({ key, now, settings }), status: 201 };
    },
  });

const overlapChoices = Object.keys(overlaps) as [Overlap, ...Overlap[]];

export const rotation = ({ access, settings }: Ports): Form =>
  form({
    name: 'rotate-key',
    path: `${keysPath}/:key/rotate`,
    schema: v.object({ overlap: v.picklist(overlapChoices, 'Choose one of the times.') }),
    once: true,
    act: async (visit, { overlap }) => {
      const { accountId, now } = visit;
      const key = await access.rotateApiKey(keyIdOf(visit), overlap, accountId);
      return { ...shownKey({ key, overlap, now, settings }), status: 200 };
    },
  });

export const revocation = ({ access }: Ports): Form =>
  bareForm({
    name: 'revoke-key',
    path: `${keysPath}/:key/revoke`,
    act: async (visit) => {
      await access.revokeApiKey(keyIdOf(visit), visit.accountId);
      return { to: keysPath, done: 'revoked' };
    },
  });

export const lift = ({ access }: Ports): Form =>
  bareForm({
    name: 'lift-ban',
    path: `${keysPath}/:key/lift-ban`,
    act: async (visit) => {
      await access.liftBan(keyIdOf(visit), visit.accountId);
      return { to: keysPath, done: 'lifted' };
    },
  });

const keyIdOf = ({ parameters: { key = '' } }: Visit): string => key;
