import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'

/** What a server may do with the damaged files. */
export type Expectation =
  /** Refuse to start with a typed error. */
  | 'refused'
  /** Refuse to start, or answer correctly or with an error; damage that SQLite cannot see is only counted. */
  | 'truth or error'
  /** Answer correctly. */
  | 'truth'
  /** Refuse to start, or serve a complete earlier state. */
  | 'earlier snapshot'
  /**
   * Refuse to start, or answer every request correctly, except that reading the audit log may return an error and
   * verifying the audit log may fail.
   */
  | 'audit damage detected'

export interface Damage {
  readonly name: string
  /** Suffix of the damaged file, such as `-wal`; empty for the database itself. */
  readonly of: string
  readonly expects: Expectation
  /** Damages the file at this path. */
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

const FILE: Target = { of: '', expects: 'truth or error' }

/** How many damages of each kind to create. */
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

/** Damages to the WAL left by a killed server. */
export function logDamages(path: string, random: () => number, { flips, cuts }: DamageCounts): readonly Damage[] {
  const log = readFileSync(`${path}-wal`)
  const flushed = flushedBytes(log)
  const within = (from: number, to: number) => from + Math.floor(random() * (to - from))
  return [
    ...many(flips, () => flip(within(0, flushed), maskOf(random), { of: '-wal', expects: 'refused' })),
    ...many(cuts, () => flip(within(flushed, log.length), maskOf(random), { of: '-wal', expects: 'earlier snapshot' })),
    ...many(cuts, () => cut(within(0, log.length), { of: '-wal', expects: 'earlier snapshot' })),
    remove({ of: '-wal', expects: 'earlier snapshot' }),
    remove({ of: '', expects: 'refused' }),
    remove({ of: '-shm', expects: 'truth' }),
    replace('noise', Buffer.from(many(32_768, () => Math.floor(random() * 256))), { of: '-shm', expects: 'truth' }),
  ]
}

/** Damages to the audit log, a separate encrypted file with its own WAL. A damaged page is detected when it is read. */
export function auditDamages(path: string, random: () => number, { flips, cuts }: DamageCounts): readonly Damage[] {
  const of = (suffix: string): Target => ({ of: suffix, expects: 'audit damage detected' })
  const sizeOf = (suffix: string) => readFileSync(path + suffix).length
  return ['', '-wal'].flatMap((suffix) => [
    ...many(flips, () => flip(Math.floor(random() * sizeOf(suffix)), maskOf(random), of(suffix))),
    ...many(cuts, () => cut(Math.floor(random() * sizeOf(suffix)), of(suffix))),
    remove(of(suffix)),
  ])
}

const FRAMES_AT = 32
const FRAME_HEADER = 24

/**
 * How many bytes of a WAL were certainly flushed: all except the three newest commits, which may have been in progress.
 */
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
