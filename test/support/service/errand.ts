/** One command line, as the shell would start it. */
export interface Errand {
  readonly number: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Done = CommandResult & { readonly number: number };
