import { answerTasks } from '../../src/adapters/threads/answer-tasks.ts';

answerTasks(() => () => {
  for (;;);
});
