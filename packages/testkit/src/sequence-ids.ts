import type { IdGenerator } from '@perdure/ports'
import { ID_PREFIXES } from '@perdure/protocol'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FIRST_MS = 1_735_689_600_000

/** Generates the same well-formed ids and bytes in every test run; ids sort in order of creation. */
export function createSequenceIds(): IdGenerator {
  let made = 0
  let filled = 0
  return {
    newId(kind) {
      made += 1
      return `${ID_PREFIXES[kind]}_${crockford(uuidV7(FIRST_MS + made))}`
    },
    randomBytes(length) {
      filled += 1
      let state = filled
      return Uint8Array.from({ length }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return state >>> 24
      })
    },
  }
}

/** A UUIDv7 with this timestamp whose random bits are all zero. */
const uuidV7 = (ms: number): bigint => (BigInt(ms) << 80n) | (7n << 76n) | (0b10n << 62n)

function crockford(value: bigint): string {
  let rest = value
  let text = ''
  while (text.length < 26) {
    text = CROCKFORD.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}
