import type { Responsible } from '../../../domains/domain/dns/problem.ts';
import type { Tone } from '../frame/parts.ts';

/** The progress of a domain, for its owner. */
export interface Progress {
  /** In a few words, for a list. */
  readonly short: string;
  /** What is happening now, in a sentence or two. */
  readonly sentence: string;
  readonly actor: Responsible;
  readonly tone: Tone;
  /** Work is under way that takes seconds or minutes. */
  readonly isWorkedOn: boolean;
}

export const yourTurn = (short: string, sentence: string, tone: Tone = 'bad'): Progress => ({
  ...{ short, sentence, tone },
  actor: 'customer',
  isWorkedOn: false,
});

export const ourTurn = (short: string, sentence: string): Progress => ({
  ...{ short, sentence, tone: 'busy' },
  actor: 'us',
  isWorkedOn: true,
});

/** A title to go on with within a sentence; abbreviations stay as they are. */
export const lowered = (title: string): string =>
  /^[A-Z][a-z]|^An? /.test(title) ? `${title.slice(0, 1).toLowerCase()}${title.slice(1)}` : title;
