import type { IdGenerator } from '@berth/ports'
import { ID_PREFIXES } from '@berth/protocol'
import { createRandomPool } from './random-pool.ts'

export interface IdGeneratorOptions {
  readonly now?: () => number // epoch milliseconds
  readonly random?: (length: number) => Uint8Array
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TAIL_BITS = 74n // what a UUIDv7 holds besides time, version and variant
const TAIL_END = 1n << TAIL_BITS
const STEP_BYTES = 4

/**
 * Ids from UUIDv7: time first, then 74 random bits. Within one millisecond, and while the wall clock is behind the
 * last id, the random part grows by a random step, so that ids stay strictly increasing and hard to guess.
 *
 * @see RFC 9562 section 6.2, method 2
 */
export function createIdGenerator({
  now = Date.now,
  random = createRandomPool(),
}: IdGeneratorOptions = {}): IdGenerator {
  let lastMs = -1
  let tail = 0n

  const advance = () => {
    const ms = Math.floor(now())
    if (ms > lastMs) {
      lastMs = ms
      tail = toBigInt(random(10)) % TAIL_END
      return
    }
    tail += 1n + toBigInt(random(STEP_BYTES))
    if (tail < TAIL_END) return
    lastMs += 1
    tail = toBigInt(random(STEP_BYTES))
  }

  return {
    newId(kind) {
      advance()
      return `${ID_PREFIXES[kind]}_${toCrockford(toUuid(lastMs, tail))}`
    },
    randomBytes: (length) => random(length),
  }
}

const toUuid = (ms: number, tail: bigint): bigint =>
  (BigInt(ms) << 80n) | (7n << 76n) | ((tail >> 62n) << 64n) | (0b10n << 62n) | (tail & ((1n << 62n) - 1n))

const toBigInt = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

function toCrockford(uuid: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += CROCKFORD.charAt(Number((uuid >> shift) & 31n))
  return text
}
