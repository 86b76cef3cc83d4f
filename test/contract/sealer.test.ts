import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AesGcmSealer } from '../../src/adapters/system/secrets.ts';
import { anyCharacter } from '../support/seeded-random.ts';

const secretKey = Buffer.from('correct horse battery staple');
const sealer = new AesGcmSealer(secretKey);
const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string());

test('any sealed text opens again, in another process too', () => {
  const later = new AesGcmSealer(Buffer.from(secretKey));
  fc.assert(
    fc.property(anyText, anyText, (secret, purpose) => {
      expect(later.open(sealer.seal(secret, purpose), purpose)).toBe(secret);
    }),
    { examples: [['', '']] },
  );
});

test('a long text opens again', () => {
  const secret = 'ü🐦x'.repeat(50_000);
  expect(sealer.open(sealer.seal(secret, 'a'), 'a') === secret).toBe(true);
});

test('sealed text is one line of plain characters that names its version', () => {
  expect(sealer.seal('ü\n🐦', 'a')).toMatch(/^v1\.[\w-]+$/);
});

test('the secret does not appear in the sealed text', () => {
  const secret = '-----BEGIN PRIVATE KEY-----';
  const sealed = sealer.seal(secret, 'a');
  const bytes = Buffer.from(sealed.slice(3), 'base64url');
  for (const encoding of ['utf8', 'utf16le'] as const) {
    const clear = Buffer.from(secret, encoding);
    expect(bytes.includes(clear)).toBe(false);
    for (const form of ['utf8', 'base64', 'base64url', 'hex'] as const)
      expect(sealed).not.toContain(clear.toString(form));
  }
});

test('the same secret is never sealed to the same text', () => {
  const sealed = Array.from({ length: 1000 }, () => sealer.seal('secret', 'a'));
  expect(new Set(sealed).size).toBe(1000);
});

test('sealed text does not open after any change to any of its characters', () => {
  const sealed = sealer.seal('a secret', 'a');
  const open = (text: string) => () => sealer.open(text, 'a');
  expect(open(sealed)()).toBe('a secret');
  for (let at = 0; at < sealed.length; at++) {
    const [before, after] = [sealed.slice(0, at), sealed.slice(at + 1)];
    for (const other of ['A', 'B', '-', '_', '+', '/', '=', ' ', '\n', ''])
      if (other !== sealed.charAt(at)) expect(open(before + other + after)).toThrow();
  }
});

test('sealed text does not open when it is cut short, made longer or empty', () => {
  const sealed = sealer.seal('a secret', 'a');
  const wrong = [sealed.slice(0, -4), sealed.slice(0, 20), `${sealed}AAAA`, 'v1.', '', 'v1'];
  for (const text of wrong) expect(() => sealer.open(text, 'a')).toThrow('a');
});

test('sealed text does not open for another purpose', () => {
  const sealed = sealer.seal('a secret', 'certificate of a.example');
  for (const purpose of ['certificate of b.example', 'certificate of a.exampl', '', '\ud800'])
    expect(() => sealer.open(sealed, purpose)).toThrow('cannot be decrypted');
});

test('sealed text does not open with another secret key, and the error says so without the secret', () => {
  const sealed = sealer.seal('a secret', 'a');
  for (const key of ['correct horse battery stapl', 'correct horse battery staple ', '']) {
    const opening = () => new AesGcmSealer(Buffer.from(key)).open(sealed, 'a');
    expect(opening).toThrow('the encrypted a cannot be decrypted: was it encrypted under another');
  }
});

describe('after a rotation', () => {
  const rotated = new AesGcmSealer(Buffer.from('a newer key'), [secretKey]);

  test('text sealed with the previous key still opens, with its id and without', () => {
    const sealed = sealer.seal('a secret', 'a');
    expect(rotated.open(sealed, 'a')).toBe('a secret');
    for (const id of [...rotated.keyIds, 'stale'])
      expect(rotated.open(sealed, 'a', id)).toBe('a secret');
    expect(() => rotated.open(sealed, 'b', sealer.keyIds[0])).toThrow('cannot be decrypted');
  });

  test('the current key seals, and its id comes first', () => {
    const sealed = rotated.seal('a secret', 'a');
    const later = new AesGcmSealer(Buffer.from('a newer key'));
    expect(later.open(sealed, 'a', rotated.keyIds[0])).toBe('a secret');
    expect([later.keyIds, sealer.keyIds]).toEqual([[rotated.keyIds[0]], [rotated.keyIds[1]]]);
    expect([rotated.isCurrent(sealed, 'a'), sealer.isCurrent(sealed, 'a')]).toEqual([true, false]);
    expect(rotated.isCurrent(sealer.seal('x', 'a'), 'a')).toBe(false);
    expect(rotated.isCurrent('nonsense', 'a')).toBe(false);
  });

  test('key ids are short words that reveal nothing of the keys', () => {
    for (const id of rotated.keyIds) expect(id).toMatch(/^[0-9a-f]{12}$/);
  });

  test('a missing key is named in the error', () => {
    const sealed = rotated.seal('a secret', 'a');
    expect(() => sealer.open(sealed, 'a', rotated.keyIds[0])).toThrow(
      `under another secret key, with the id ${rotated.keyIds[0]}, and this process has ${sealer.keyIds[0]}. ` +
        'Give that key as SECRET_KEY_PREVIOUS.',
    );
  });
});
