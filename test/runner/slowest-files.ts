import { relative } from 'node:path';
import type { AggregatedResult } from '@jest/test-result';

const shown = 10;
const leastSeconds = 2;

/** Prints the slowest files after a run. */
export default class SlowestFiles {
  onRunComplete(_contexts: unknown, { testResults }: AggregatedResult): void {
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({
        file: relative(process.cwd(), testFilePath),
        seconds: (perfStats.end - perfStats.start) / 1000,
      }))
      .filter(({ seconds }) => seconds >= leastSeconds)
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, shown);
    if (testResults.length <= shown || slowest.length === 0) return;
    const lines = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s ${file}`);
    process.stderr.write(`\nSlowest files:\n${lines.join('\n')}\n`);
  }
}
