import { targets, type BytesCase, type FuzzCase, type Target } from './fuzz-case.ts';
import { readAnswers } from './http1-answers.ts';
import type { Reply } from './send.ts';

interface Row {
  cases: number;
  requests: number;
  readonly answers: Map<string, number>;
}

/** What was sent, and what came of it. */
export class FuzzTally {
  readonly rows = Object.fromEntries(
    targets.map((target): [Target, Row] => [target, { cases: 0, requests: 0, answers: new Map() }]),
  ) as Readonly<Record<Target, Row>>;
  requests = 0;
  mangledAnswers = 0;

  add({ target }: FuzzCase, requests: number): void {
    const row = this.rows[target];
    row.cases += 1;
    row.requests += requests;
    this.requests += requests;
  }

  answer({ target, asks, wants }: BytesCase, { bytes, end }: Reply): void {
    const methods = wants === 'answers' ? asks.map(({ method }) => method) : [];
    const statuses = readAnswers(bytes.toString('latin1'), methods).map(({ status }) => status);
    const { answers } = this.rows[target];
    const told = statuses.length > 0 ? statuses.map(String) : [end];
    for (const one of told) answers.set(one, (answers.get(one) ?? 0) + 1);
  }

  /** For people, in columns. */
  table(): string {
    const lines = Object.entries(this.rows).map(([target, { cases, requests, answers }]) => {
      const told = [...answers]
        .sort(([, a], [, b]) => b - a)
        .map(([what, count]) => `${what}: ${count}`);
      return [
        target.padEnd(14),
        String(cases).padStart(8),
        String(requests).padStart(9),
        `  ${told.join(', ')}`,
      ].join(' ');
    });
    const heading = `${'target'.padEnd(14)} ${'cases'.padStart(8)} ${'requests'.padStart(9)}   answers`;
    return [heading, ...lines, `${this.mangledAnswers} mangled DNS answers`].join('\n');
  }
}
