import type { IdGenerator } from '@perdure/ports'
import { ID_PREFIXES } from '@perdure/protocol'
import { createRandomPool } from './random-pool.ts'

export interface IdGeneratorOptions {
  readonly now?: () => number // epoch milliseconds
  readonly random?: (length: number) => Uint8Array
}

/** The 74 random bits of a UUIDv7: all except time, version and variant. Most significant part first. */
type Tail = [top14: number, high20: number, middle20: number, low20: number]

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LIMB = 2 ** 20
const TOP = 2 ** 14
const TAIL_BYTES = 11
const STEP_BYTES = 4

/** How far the clock may be behind the last id while ids keep increasing. */
const FOLLOWED_BACK_MS = 60_000

/**
 * Creates UUIDv7 ids: the time, then 74 random bits. Within one millisecond, and while the wall clock is up to a minute behind
 * the last id, the generator adds a random step to the random part of the last id. Ids therefore stay strictly increasing
 * and hard to guess. If the clock is further behind, it was wrong before, and ids of the right time are created again: they
 * sort before those of the wrong time, and their random bits keep them different.
 *
 * @see RFC 9562 section 6.2, method 2
 */
export function createIdGenerator({
  now = Date.now,
  random = createRandomPool(),
}: IdGeneratorOptions = {}): IdGenerator {
  let lastMs = -1
  let time = ''
  let tail: Tail = [0, 0, 0, 0]

  const startMillisecond = (ms: number, next: Tail) => {
    lastMs = ms
    time = toCrockford(ms, 10)
    tail = next
  }

  const advance = () => {
    const ms = Math.floor(now())
    if (ms > lastMs || lastMs - ms > FOLLOWED_BACK_MS) return startMillisecond(ms, toTail(random(TAIL_BYTES)))
    const step = toNumber(random(STEP_BYTES))
    if (!grow(tail, 1 + step)) startMillisecond(lastMs + 1, smallTail(toNumber(random(STEP_BYTES))))
  }

  return {
    newId(kind) {
      advance()
      return `${ID_PREFIXES[kind]}_${time}${toText(tail)}`
    },
    randomBytes: (length) => random(length),
  }
}

/** Adds `step` to the tail in place. Returns `false` on overflow. */
function grow(tail: Tail, step: number): boolean {
  let carry = step
  for (const at of [3, 2, 1] as const) {
    const sum = tail[at] + carry
    tail[at] = sum % LIMB
    carry = Math.floor(sum / LIMB)
  }
  tail[0] += carry
  return tail[0] < TOP
}

const toTail = (bytes: Uint8Array): Tail => [
  toNumber(bytes.subarray(0, 2)) % TOP,
  toNumber(bytes.subarray(2, 5)) % LIMB,
  toNumber(bytes.subarray(5, 8)) % LIMB,
  toNumber(bytes.subarray(8, 11)) % LIMB,
]

const smallTail = (value: number): Tail => [0, 0, Math.floor(value / LIMB), value % LIMB]

/** Inserts the version before the upper 12 random bits and the variant before the other 62. */
const toText = ([top, ...limbs]: Tail): string => {
  let text = toCrockford((7 << 16) | ((top >> 2) << 4) | (0b10 << 2) | (top & 0b11), 4)
  for (const limb of limbs) text += toCrockford(limb, 4)
  return text
}

function toNumber(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) sum = sum * 256 + byte
  return sum
}

function toCrockford(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = CROCKFORD.charAt(rest % 32) + text
  return text
}
