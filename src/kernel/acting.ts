/**
 * Who acts: `service` for automatic work, `operator` for commands, `key:<id>` for the API, `person:<e-mail>` for the
 * dashboard.
 */
export type Actor = 'service' | 'operator' | `key:${string}` | `person:${string}`;

export const isActor = (text: string): text is Actor =>
  text === 'service' ||
  text === 'operator' ||
  text.startsWith('key:') ||
  text.startsWith('person:');

/** On whose behalf the current call runs. Events are stored with it; no rule depends on it. */
export abstract class Acting {
  abstract readonly actor: Actor;

  /** Everything that `work` begins is done by `actor`. */
  abstract run<T>(actor: Actor, work: () => T): T;
}
