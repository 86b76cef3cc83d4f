import { types } from 'node:util';

/** Overwrites everything that can be reached from a value, as a careless caller might. */
export const scribble = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return;
  if (types.isDate(value)) value.setTime(0);
  for (const key of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, key);
    scribble(inner);
    if (typeof inner !== 'object') Reflect.set(value, key, 'scribbled');
  }
};
