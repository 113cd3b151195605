import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cidrLabels } from '../../../src/lib/identity/cidr-labels.ts';
import { canonicalLabels } from '../../../src/lib/identity/label-resolver.ts';
import { formatPrefix, makePrefix } from '../../../src/lib/net/prefix.ts';
import { guessedLabelTexts } from '../../../src/lib/restore/guessed-labels.ts';

it('guessedLabelTexts() gives the labels of every prefix as the agent makes them', () => {
  const addresses = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => bytes.map((byte) => (byte < 128 ? 0 : byte))),
  );
  fc.assert(
    fc.property(addresses, fc.nat(128), fc.boolean(), fc.boolean(), (address, length, enableIPv4, enableIPv6) => {
      const prefix = makePrefix(address, length % (address.length * 8 + 1));
      const options = { enableIPv4, enableIPv6 };
      expect(guessedLabelTexts(formatPrefix(prefix), options)).toEqual(canonicalLabels(cidrLabels(prefix, options)));
    }),
  );
});
