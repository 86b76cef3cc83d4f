import { caPlaces, type CaFault } from '../authority/gate-faults.ts';

interface AuthorityChoice {
  readonly label: string;
  readonly faults: readonly CaFault[];
}

const limit = { type: 'rateLimited', detail: 'too many new orders' };

/** How a person can have an authority answer. */
export const authorityChoices = {
  works: { label: 'Works', faults: [] },
  hangs: { label: 'Hangs', faults: [{ match: /./, hang: true }] },
  trouble: {
    label: 'Answers 503',
    faults: [{ match: /./, status: 503, body: 'Try again later.' }],
  },
  limits: {
    label: 'Limits us for an hour',
    faults: [
      {
        ...{ match: caPlaces.newOrder, status: 429, problem: limit },
        headers: { 'retry-after': '3600' },
      },
    ],
  },
  cuts: { label: 'Cuts connections', faults: [{ match: /./, reset: true }] },
} as const satisfies Readonly<Record<string, AuthorityChoice>>;

export type AuthorityChoiceName = keyof typeof authorityChoices;
