export const petById = 'getPet';
/** Of the `Deprecation` header. */
export const petByIdDeprecatedSince = new Date('2025-12-05T00:00:00Z');
/** The interface's own date; from then on `GET /pets/{petId}` answers 410. */
export const petByIdSunset = new Date('2030-12-05T00:00:00Z');

/** Operations that will be removed, by their ids. */
export const operationSunsets: ReadonlyMap<string, Date> = new Map([[petById, petByIdSunset]]);
