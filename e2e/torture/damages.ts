import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'

/** What may become of a server on the damaged files. */
export type Expectation =
  /** It is refused by name. */
  | 'refusal'
  /** It is refused, or answers the truth or an error; what SQLite cannot see is counted. */
  | 'honesty'
  /** It answers the truth. */
  | 'truth'
  /** It is refused, or has what was there at an earlier moment, whole. */
  | 'earlier moment'
  /** It is refused, or answers the truth of all but the audit log, and of that the truth, an error, or that it is not whole. */
  | 'audit shown'

export interface Damage {
  readonly name: string
  /** What the name of the damaged file has behind that of its database: `-wal`, `-shm`. */
  readonly of: string
  readonly expects: Expectation
  /** On the path of the damaged file. */
  apply(path: string): void
}

type Target = Pick<Damage, 'of' | 'expects'>

export const flip = (at: number, mask: number, target: Target = FILE): Damage => ({
  ...target,
  name: `byte ${at}${target.of} xor ${mask}`,
  apply(path) {
    const bytes = readFileSync(path)
    bytes[at] = (bytes[at] ?? 0) ^ mask
    writeFileSync(path, bytes)
  },
})

export const cut = (length: number, target: Target = FILE): Damage => ({
  ...target,
  name: `cut${target.of} to ${length}`,
  apply: (path) => truncateSync(path, length),
})

export const replace = (name: string, contents: string | Buffer, target: Target = FILE): Damage => ({
  ...target,
  name: `${name}${target.of}`,
  apply: (path) => writeFileSync(path, contents),
})

export const remove = (target: Target = FILE): Damage => ({
  ...target,
  name: `no file${target.of}`,
  apply: (path) => rmSync(path, { force: true }),
})

const FILE: Target = { of: '', expects: 'honesty' }

/** Of a file and its log, as they lie there. */
export interface DamageCounts {
  readonly flips: number
  readonly cuts: number
}

export function fileDamages(path: string, random: () => number, { flips, cuts }: DamageCounts): readonly Damage[] {
  const size = readFileSync(path).length
  return [
    ...many(flips, () => flip(Math.floor(random() * size), maskOf(random))),
    ...many(cuts, () => cut(Math.floor(random() * size))),
    replace('a text', 'Dear diary,\n'.repeat(2_000)),
  ]
}

/** Of the log that a killed server has left. */
export function logDamages(path: string, random: () => number, { flips, cuts }: DamageCounts): readonly Damage[] {
  const log = readFileSync(`${path}-wal`)
  const flushed = flushedBytes(log)
  const within = (from: number, to: number) => from + Math.floor(random() * (to - from))
  return [
    ...many(flips, () => flip(within(0, flushed), maskOf(random), { of: '-wal', expects: 'refusal' })),
    ...many(cuts, () => flip(within(flushed, log.length), maskOf(random), { of: '-wal', expects: 'earlier moment' })),
    ...many(cuts, () => cut(within(0, log.length), { of: '-wal', expects: 'earlier moment' })),
    remove({ of: '-wal', expects: 'earlier moment' }),
    remove({ of: '', expects: 'refusal' }),
    remove({ of: '-shm', expects: 'truth' }),
    replace('noise', Buffer.from(many(32_768, () => Math.floor(random() * 256))), { of: '-shm', expects: 'truth' }),
  ]
}

/** Of the audit log, a file of its own with a log of its own. Both are encrypted: what damages a page shows when it is read. */
export function auditDamages(path: string, random: () => number, { flips, cuts }: DamageCounts): readonly Damage[] {
  const of = (suffix: string): Target => ({ of: suffix, expects: 'audit shown' })
  const sizeOf = (suffix: string) => readFileSync(path + suffix).length
  return ['', '-wal'].flatMap((suffix) => [
    ...many(flips, () => flip(Math.floor(random() * sizeOf(suffix)), maskOf(random), of(suffix))),
    ...many(cuts, () => cut(Math.floor(random() * sizeOf(suffix)), of(suffix))),
    remove(of(suffix)),
  ])
}

const FRAMES_AT = 32
const FRAME_HEADER = 24

/** How much of a log was flushed for certain: the three newest commits may be the ones that were being written. */
function flushedBytes(log: Buffer): number {
  const frame = FRAME_HEADER + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  const commits: number[] = []
  for (let at = FRAMES_AT; at + frame <= log.length; at += frame) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break
    if (log.readUInt32BE(at + 4) !== 0) commits.push(at + frame)
  }
  return commits.at(-4) ?? FRAMES_AT
}

const maskOf = (random: () => number): number => 1 + Math.floor(random() * 255)

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
