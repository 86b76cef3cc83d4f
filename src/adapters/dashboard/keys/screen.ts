import type { ListedKey } from '../../../access/ports.ts';
import { overlapSchema } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { pageIn, placeIn, seenAtOnce } from '../frame/list-parts.ts';
import { empty, head } from '../frame/parts.ts';
import { bareForm, form, type Form, refusalOf, type Screen, type Visit } from '../frame/screen.ts';
import { shownOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { keyTable, type KeyTableOptions, revokedKeys } from './list.ts';
import { keyDraft, newKeyForm, shownKey } from './new-key.ts';

const keysPath = '/dashboard/keys';
const placeOf = (query: URLSearchParams): string => placeIn(query, ['after', 'revoked']);

export const keysScreen = (ports: DashboardPorts): Screen => {
  const newId = () => ports.ids.next('form');
  return {
    path: keysPath,
    section: 'keys',
    live: false,
    notices: {
      [shownOnce]:
        'This was already done, and the secret was shown then. If you lost it, rotate the key.',
      revoked: 'The key is revoked. It has stopped working everywhere.',
      lifted: 'The ban is lifted. The key works again, starting with the next request.',
    },
    show: async ({ accountId, query, may, now }, refusal, secret) => {
      const keys = await ports.access.listApiKeys(accountId);
      const projects = await ports.sites.listProjects(accountId);
      const ofRotation = refusalOf(refusal, 'rotate-key');
      const content = html`
        ${head(
          'API keys',
          'Programs send a key with every request. Give each program its own key, so that you can see which one calls and revoke one without the others.',
          {
            actions:
              may('key.create') &&
              keys.length > seenAtOnce &&
              html`<a class="button" href="#new-key">New key</a>`,
          },
        )}
        ${secret}
        ${lists(keys, query, { now, newId, projects, may, refusal: ofRotation, place: placeOf(query) })}
        ${
          may('key.create') &&
          html`<section class="card" id="new-key">
          <h2>New key</h2>
          ${newKeyForm({ now, projects, once: newId(), refusal: refusalOf(refusal, 'create-key') })}
        </section>`
        }`;
      return { title: 'API keys', content };
    },
    forms: [creation(ports), rotation(ports), revocation(ports), lift(ports)],
  };
};

const lists = (
  keys: readonly ListedKey[],
  query: URLSearchParams,
  options: KeyTableOptions,
): Html => {
  const usable = keys.filter((key) => !key.revokedAt).toReversed();
  const revoked = keys.filter((key) => key.revokedAt).toReversed();
  const address = { path: keysPath, fields: {} };
  const page = { address, after: query.get('after'), order: 'time' } as const;
  const { shown, links } = pageIn(usable, ({ id }) => id, page);
  return html`
    ${usable.length === 0 ? nothingYet : keyTable(shown, options)}
    ${links}
    ${revoked.length > 0 && revokedKeys(revoked, { path: keysPath, after: query.get('revoked'), now: options.now })}`;
};

const nothingYet = empty(
  'No active key',
  'Programs need a key to call the API. Create one below; it is shown once, with an example request.',
);

const creation = ({ access, sites, settings }: DashboardPorts): Form =>
  form({
    name: 'create-key',
    operation: 'key.create',
    showsSecret: true,
    path: keysPath,
    schema: keyDraft,
    field: 'expires',
    once: true,
    act: async ({ accountId, now }, { project, ...draft }) => {
      const only = project !== '' && { projectId: await sites.projectIdOf(accountId, project) };
      const key = await access.createApiKey({ accountId, ...draft, ...only });
      return { ...shownKey({ key, project, now, settings, way: keysPath }), status: 201 };
    },
  });

const rotation = ({ access, settings }: DashboardPorts): Form =>
  form({
    name: 'rotate-key',
    operation: 'key.rotate',
    showsSecret: true,
    path: `${keysPath}/:key/rotate`,
    schema: overlapSchema,
    once: true,
    act: async (visit, { overlap }) => {
      const { accountId, now } = visit;
      const key = await access.rotateApiKey(keyIdOf(visit), overlap, accountId);
      const way = keysPath + placeOf(visit.query);
      return { ...shownKey({ key, overlap, now, settings, way }), status: 200 };
    },
  });

const revocation = ({ access }: DashboardPorts): Form =>
  bareForm({
    name: 'revoke-key',
    operation: 'key.revoke',
    path: `${keysPath}/:key/revoke`,
    act: async (visit) => {
      await access.revokeApiKey(keyIdOf(visit), visit.accountId);
      return { to: keysPath + placeOf(visit.query), done: 'revoked' };
    },
  });

const lift = ({ access }: DashboardPorts): Form =>
  bareForm({
    name: 'lift-ban',
    operation: 'key.unban',
    path: `${keysPath}/:key/lift-ban`,
    act: async (visit) => {
      await access.liftBan(keyIdOf(visit), visit.accountId);
      return { to: keysPath + placeOf(visit.query), done: 'lifted' };
    },
  });

const keyIdOf = ({ parameters: { key = '' } }: Visit): string => key;
