import type { Transitions } from '../../kernel/decision.ts';
import type { UploadProblem } from './sites-error.ts';

/** One uploaded version of a project. Only a succeeded one has files and can be served. */
export type Deploy = DeployIdentity &
  (
    | { readonly state: 'uploading' }
    | {
        readonly state: 'succeeded';
        readonly finishedAt: Date;
        readonly files: number;
        /** Unpacked. */
        readonly bytes: number;
      }
    | {
        readonly state: 'failed';
        readonly finishedAt: Date;
        readonly problem: UploadProblem;
        /** For its owner: what is wrong and how to fix it. */
        readonly explanation: string;
      }
  );

interface DeployIdentity {
  readonly id: string;
  /** 1, 2, 3 … within its project. */
  readonly number: number;
  readonly startedAt: Date;
}

export const deployStates = ['uploading', 'succeeded', 'failed'] as const;
export type DeployState = (typeof deployStates)[number];

/** The whole lifecycle; docs/lifecycles.md is printed from this table. */
export const deployTransitions = {
  uploading: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Transitions<DeployState>;

/** How many deploys of a project are kept, besides the one that is served. */
export const keptDeploys = 10;

/** An upload that is not finished by then was cut off. */
export const longestUploadMs = 60 * 60 * 1000;
