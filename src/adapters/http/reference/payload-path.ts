import type { MessageType } from '../../../notifications/domain/payload.ts';

/** Where the schema of a message is, on the server of the API reference. */
export const payloadSchemaPath = (type: MessageType): string => `/docs/webhooks/${type}.json`;
