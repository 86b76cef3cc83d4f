import { answerTasks } from '../../src/adapters/threads/answer-tasks.ts';

// Whatever it is given, it never ends by itself.
answerTasks(() => () => {
  for (;;);
});
