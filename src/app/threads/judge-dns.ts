import { answerTasks } from '../../adapters/threads/answer-tasks.ts';
import type { JudgingTask } from '../../adapters/threads/threaded-judge.ts';
import { judgementOn, type DnsJudgement } from '../../domains/domain/dns/judgement.ts';

// What runs in the thread of `ThreadedJudge`.
answerTasks<undefined, JudgingTask, DnsJudgement>(
  () =>
    ({ facts, expectation }) =>
      judgementOn(facts, expectation),
);
