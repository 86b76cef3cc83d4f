import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema';
import type { MessageType } from '../../../notifications/domain/payload.ts';
import { payloadSchemaPath } from './payload-path.ts';
import { payloadSchema } from './payload-schemas.ts';

/** JSON Schema 2020-12. Fields may be added, so none is forbidden. @param root the address of the server */
export const payloadDocument = (type: MessageType, root: string): JsonSchema => ({
  $id: `${root}${payloadSchemaPath(type)}`,
  title: `Webhook ${type}`,
  ...toJsonSchema(payloadSchema(type), { target: 'draft-2020-12' }),
});
