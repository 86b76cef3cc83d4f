import { errorTable, type ErrorCode } from '../../src/adapters/http/error-table.ts';
import { byHand, code, type Printed, table } from './markdown.ts';

export const errorTables = (): Readonly<Record<string, Printed>> => ({
  errors: table(
    ['Code', 'Status', 'Meaning', 'What to do'],
    (Object.keys(errorTable) as ErrorCode[]).map((name) => {
      const { status, meaning } = errorTable[name];
      return [code(name), String(status), meaning, byHand];
    }),
  ),
});
