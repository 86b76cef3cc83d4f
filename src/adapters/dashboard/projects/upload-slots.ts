/**
 * Limits per process. Receiving takes disk, and as long as the sender needs; unpacking takes a processor. They are
 * limited separately, so that slow senders do not block unpacking. Two accounts together cannot hold all places.
 */
export const uploadSlots = {
  /** From the first byte until it is published. */
  inAll: { all: 12, ofOne: 2 },
  receiving: { all: 8, ofOne: 2 },
  unpacking: { all: 3, ofOne: 1 },
} as const;
