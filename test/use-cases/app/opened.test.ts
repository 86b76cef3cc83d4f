import { expect, test } from '@jest/globals';
import { Opened } from '../../../src/app/stop-process.ts';

const never = Promise.withResolvers<undefined>().promise;

const threeOf = (second: () => unknown, longestMs?: number) => {
  const ended: string[] = [];
  const opened = new Opened(longestMs);
  opened.add(() => ended.push('database'));
  opened.add(second);
  opened.add(
    () => ended.push('server, with notice'),
    () => ended.push('server'),
  );
  return { opened, ended };
};

test('resources are closed in reverse order, even when one of them cannot be closed', async () => {
  const { opened, ended } = threeOf(() => Promise.reject(new Error('jammed')));
  await expect(opened.close()).rejects.toThrow('jammed');
  expect(ended).toEqual(['server, with notice', 'database']);
});

test('a start that fails closes everything, and reports its own reason', async () => {
  const { opened, ended } = threeOf(() => {
    throw new Error('jammed');
  });
  await opened.giveUp();
  expect(ended).toEqual(['server', 'database']);
});

test('a start that fails does not wait for a resource that never closes', async () => {
  const { opened, ended } = threeOf(() => never, 1);
  await opened.giveUp();
  expect(ended).toEqual(['server']);
});
