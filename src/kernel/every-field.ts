/**
 * Something for each field of an aggregate: optional fields too, and those of each state. A list, a row or a form to
 * `satisfies` it does not compile while it lacks a field; `Omit<EveryField<Pet>, 'status'>` leaves one out by name.
 */
export type EveryField<Fields, Something = unknown> = Readonly<
  Record<Fields extends unknown ? keyof Fields : never, Something>
>;
