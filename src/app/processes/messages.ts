import type { MetricSnapshot } from '../../adapters/http/metrics/together.ts';

/** Why a process stops: the whole service ends, or another process has taken its place. */
export type Stopping = 'ending' | 'replaced';

/** Where the service is, by role. */
export type Places = Readonly<Record<string, string>>;

export type FromChild =
  | { readonly type: 'serving'; readonly places: Places }
  | { readonly type: 'metrics wanted'; readonly question: number }
  /** Without a question: its last one before it ends. */
  | {
      readonly type: 'snapshot';
      readonly question?: number;
      readonly snapshot: MetricSnapshot;
    };

export type FromParent =
  | { readonly type: 'introduce' }
  | { readonly type: 'stop'; readonly why: Stopping }
  | { readonly type: 'snapshot wanted'; readonly question: number }
  | {
      readonly type: 'metrics';
      readonly question: number;
      readonly snapshots: readonly MetricSnapshot[];
    };
