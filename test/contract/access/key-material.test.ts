import { describe, expect, test } from '@jest/globals';
import { CountingKeyMaterial } from '../../support/access/access-lab.ts';
import { NodeKeyMaterial } from '../../../src/adapters/system/system-ports.ts';
import { keyMaterialContract } from './key-material.contract.ts';

describe('predictable key material for tests', () => {
  keyMaterialContract(() => new CountingKeyMaterial());
});

describe('key material from Node', () => {
  keyMaterialContract(() => new NodeKeyMaterial());

  // FIPS 180-4, examples of NIST.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('the digest of "%s" is the published one', (text, digest) => {
    expect(new NodeKeyMaterial().sha256(text)).toBe(digest);
  });

  test('two instances give different random text', () => {
    const [first, second] = [new NodeKeyMaterial(), new NodeKeyMaterial()];
    expect(first.randomBase62(32)).not.toBe(second.randomBase62(32));
  });
});
