import type { Container } from 'inversify';
import pino from 'pino';
import { loadConfig } from '../settings/config.ts';
import { openContainer } from '../container.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

/** Opens the container for one short command, and always closes it. */
export const withContainer = async <T>(work: (container: Container) => Promise<T>): Promise<T> => {
  const config = loadConfig(process.env);
  const container = await openContainer(config, pino({ level: 'silent' }), 'operator');
  try {
    return await work(container);
  } finally {
    await container.unbindAllAsync();
  }
};

/** One JSON value for machines, or text for people. */
export const print = ({ json }: OutputOptions, value: unknown, text: string): void => {
  process.stdout.write(json ? `${JSON.stringify(value, plain)}\n` : `${text}\n`);
};

const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/** Aligned columns with a heading; says so when there is nothing. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): string => {
  if (rows.length === 0) return nothing;
  const all = [heading, ...rows];
  const widths = heading.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
