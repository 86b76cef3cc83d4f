import type { Overlap } from '../../../access/domain/api-key.ts';
import { html, type Html } from './html.ts';

/** How long an old secret is still accepted, as people say it. */
const words: Readonly<Record<Overlap, string>> = {
  '0': 'no time',
  '15m': '15 minutes',
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
};

/** The choices of a form that rotates a secret. @param overlaps those that it may choose from */
export const overlapOptions = <Each extends Overlap>(
  overlaps: Readonly<Record<Each, number>>,
): readonly Html[] =>
  (Object.keys(overlaps) as Each[]).map(
    (one) => html`<option value="${one}" ${one === '24h' && html`selected`}>${words[one]}</option>`,
  );
