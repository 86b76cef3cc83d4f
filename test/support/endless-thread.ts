import { answerTasks } from '../../src/adapters/threads/answer-tasks.ts';

// It never ends by itself.
answerTasks(() => () => {
  for (;;);
});
