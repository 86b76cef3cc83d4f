export interface Errand {
  readonly number: number;
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Settings that Node, or a library before it, reads only when a process starts. */
const readAtStart = /^(?:NODE_|LD_|FAKETIME_|TZ$)/;

export const settingsReadAtStart = (env: Errand['env']): Errand['env'] =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => readAtStart.test(name))
      .toSorted(),
  );

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Done = CommandResult & { readonly number: number };
