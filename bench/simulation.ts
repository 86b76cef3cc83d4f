import { simulatedLives } from '../test/support/simulated-lives.ts';
import { atLeast, target, type Report } from './report.ts';

const seed = { SEED: '1', DAYS: '20', SHRINK: '0' };
/** The simulator checks each live name once an hour. */
const looksAYear = 365.25 * 24;
const wanted = atLeast(60);

/** Measures how many years of live custom domains the simulator covers in a minute, on one core and with one seed. */
export const simulationBench = async (): Promise<Report> => {
  const begin = performance.now();
  const { code, lines } = await simulatedLives(seed);
  const minutes = (performance.now() - begin) / 60_000;
  if (code !== 0) throw new Error(lines.join('\n'));
  const looks = Number(/(\d+) looks at certificates of live names/.exec(lines.join('\n'))?.[1]);
  const years = looks / looksAYear;
  return {
    heading: `simulation: seed ${seed.SEED}, ${seed.DAYS} days and the settling after them`,
    lines: [`${years.toFixed(2)} years of live domains in ${(minutes * 60).toFixed(1)} s`],
    targets: [
      target('Years of live domains that are simulated in a minute', years / minutes, wanted),
    ],
  };
};
