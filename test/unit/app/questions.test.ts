import { expect, test } from '@jest/globals';
import { Questions } from '../../../src/app/processes/messages.ts';

test('answers come in any order, late and unknown ones change nothing', async () => {
  const questions = new Questions<string>(60_000);
  const asked: number[] = [];
  const ask = () => questions.ask((question) => void asked.push(question));
  const answers = [ask(), ask()];
  questions.answered(asked[1]!, 'second');
  questions.answered(asked[1]!, 'again');
  questions.answered(99, 'unknown');
  questions.answered(asked[0]!, 'first');
  expect(await Promise.all(answers)).toEqual(['first', 'second']);
});

test('a question without an answer ends in time', async () => {
  expect(await new Questions<string>(1).ask(() => undefined)).toBeUndefined();
});
