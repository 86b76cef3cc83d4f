import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { payloadDocument } from '../../../src/adapters/http/reference/payload-schemas.ts';
import { messageTypes, type Payload } from '../../../src/notifications/domain/payload.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
formats.default(ajv);

/** Published schemas allow unknown fields for later versions. Our current messages have none. */
const closed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)] as const);
  return {
    ...Object.fromEntries(parts),
    ...('properties' in schema && 'required' in schema && { additionalProperties: false }),
  };
};

const validators = new Map(
  messageTypes.map((type) => [
    type as string,
    ajv.compile(closed(payloadDocument(type, `https://shop.test/${type}`)) as object),
  ]),
);

/** Parses the message of a webhook. Fails if its published schema does not describe every field. */
export const documentedPayload = (body: string): Payload => {
  const message = JSON.parse(body) as Payload;
  const isValid = validators.get(message.type);
  expect([...validators.keys()]).toContain(message.type);
  const matches = isValid?.(message);
  expect({ message, errors: isValid?.errors ?? [] }).toEqual({ message, errors: [] });
  expect(matches).toBe(true);
  return message;
};
