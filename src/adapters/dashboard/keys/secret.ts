import { overlaps, type Overlap, type Scope } from '../../../access/domain/api-key.ts';
import type { IssuedKey } from '../../../access/use-cases/api-keys.ts';
import type { DashboardSettings } from '../frame/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { copyable, time } from '../frame/parts.ts';
import type { Shown } from '../frame/screen.ts';

interface NewSecret {
  readonly key: IssuedKey;
  /** Of a rotation: how long the old secret stays valid. */
  readonly overlap?: Overlap;
  readonly now: Date;
  readonly settings: Pick<DashboardSettings, 'apiUrl'>;
}

/** A secret, shown only once: what to do with it, and a working example call. */
export const shownKey = ({ key, overlap, now, settings }: NewSecret): Omit<Shown, 'status'> => ({
  title: `The secret of ${key.name}`,
  secret: html`<section class="card secret" aria-labelledby="secret-title">
    <h2 id="secret-title">${overlap === undefined ? html`Your new key: ${key.name}` : html`The new secret of ${key.name}`}</h2>
    <p>Copy it now and store it where only your program can read it. <strong>It is not shown again</strong>: we store only a hash of it.</p>
    ${copyable(key.secret, 'key')}
    ${overlap !== undefined && html`<p>${oldSecret(overlap, now)}</p>`}
    <h3>Try it</h3>
    ${copyable(exampleCall(key, settings.apiUrl), 'call')}
    <p><a class="button" href="/dashboard/keys">I have stored it</a></p>
  </section>`,
});

const oldSecret = (overlap: Overlap, now: Date): Html =>
  overlap === '0'
    ? html`The old secret no longer works.`
    : html`The old secret expires ${time(new Date(now.getTime() + overlaps[overlap]), now)}. Until then both work.`;

/** An example path that a key with these scopes may call. */
const asking: readonly (readonly [scope: Scope, path: string])[] = [
  ['pets:read', '/pets'],
  ['orders:read', '/store/orders'],
];

const exampleCall = ({ secret, scopes }: IssuedKey, apiUrl: string): string => {
  const authorization = `-H 'Authorization: Bearer ${secret}'`;
  const [, path] = asking.find(([scope]) => scopes.includes(scope)) ?? [];
  if (path !== undefined) return `curl ${authorization} ${apiUrl}${path}`;
  const body = `-H 'Content-Type: application/json' -d '{"name": "Rex", "categoryId": 1}'`;
  return `curl ${authorization} ${body} ${apiUrl}/pets`;
};
