/**
 * Something for each field of an aggregate, optional fields too. A list, a row or a form to `satisfies` it does not compile
 * while it lacks a field; `EveryField<Omit<Pet, 'status'>>` leaves one out by name.
 */
export type EveryField<Fields, Something = unknown> = Readonly<Record<keyof Fields, Something>>;
