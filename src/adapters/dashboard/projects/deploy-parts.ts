import type { Actor } from '../../../kernel/ports.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import type { Deploy, DeployState, Site } from '../../../sites/domain/site.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { badge, counted, type Tone } from '../frame/parts.ts';
import type { DashboardPorts } from '../ports.ts';

export const deployPath = (slug: string, number: number): string =>
  `/dashboard/projects/${slug}/deploys/${String(number)}`;

export type KeyNames = ReadonlyMap<string, string>;

export const keyNames = async (
  { access }: Pick<DashboardPorts, 'access'>,
  accountId: string,
): Promise<KeyNames> =>
  new Map((await access.listApiKeys(accountId)).map(({ id, name }) => [id, name]));

export const makerInWords = (madeBy: Actor, keys: KeyNames): string => {
  if (madeBy.startsWith('person:')) return madeBy.slice('person:'.length);
  if (!madeBy.startsWith('key:')) return 'the command line';
  const name = keys.get(madeBy.slice('key:'.length));
  return name === undefined ? 'a removed API key' : `API key ${name}`;
};

const tones: Readonly<Record<DeployState, Tone>> = {
  uploading: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

export const standingOf = ({ id, state }: Deploy, { servedDeployId }: Site): Html =>
  id === servedDeployId
    ? html`<span class="badge served">served</span>`
    : badge(state, tones[state]);

export const sizeOf = (deploy: Deploy): Html =>
  deploy.state === 'succeeded'
    ? html`${counted(deploy.files, 'file')}, ${bytesInWords(deploy.bytes)}`
    : nothing;

export const useButton = ({ number }: Deploy, { project }: Site, { isMain = false } = {}): Html =>
  buttonForm(`${deployPath(project.slug, number)}/roll-back`, 'Use this deploy', {
    about: `Serve deploy ${String(number)} to visitors`,
    isMain,
  });
