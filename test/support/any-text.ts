import fc from 'fast-check';

/** Any code point, halves of surrogate pairs too. (fast-check's own `binary` takes half a second to get ready.) */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x2ff }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0x1_0000, max: 0x10_ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint));
