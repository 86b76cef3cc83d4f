import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { payloadDocument } from '../../src/adapters/http/reference/payload-schemas.ts';
import { messageTypes } from '../../src/notifications/domain/webhooks/payload.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

let api: RunningApi;
beforeAll(async () => {
  api = await startApi('sqlite');
});
afterAll(() => api.close());

test.each(messageTypes)('anybody can read and keep the schema of %s', async (type) => {
  const root = publicUrl.replace(/\/v1$/, '');
  const answer = await api.send(`/docs/webhooks/${type}.json`, { key: null });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Content-Type')).toBe('application/schema+json; charset=utf-8');
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
  expect(JSON.parse(answer.text)).toEqual({
    ...payloadDocument(type, root),
    $id: `${root}/docs/webhooks/${type}.json`,
  });
});

test('there is no schema of an unknown type', async () => {
  const answer = await api.send('/docs/webhooks/domain.lost.json', { key: null });
  expect(answer.status).toBe(404);
});
