import { closeSync, openSync, readSync } from 'node:fs'
import { PAGE_BYTES } from './connection.ts'
import { fileSize } from './private-file.ts'

/**
 * Whether commits that were acknowledged stand behind a damaged place of the write-ahead log. SQLite reads a log up to the
 * first frame that does not verify and drops the rest without a word, as a power loss may tear the commit that was being
 * written. But with `synchronous` at `full` a commit is flushed before the next one is written: one with another behind it
 * was acknowledged, and no power loss has torn anything before it.
 *
 * Only for a log that nobody writes to. Where it is not in the byte order of this machine, or encrypted, nothing is found.
 */
export function losesCommits(databasePath: string): boolean {
  const path = `${databasePath}-wal`
  if (fileSize(path) <= HEADER_BYTES) return false
  const file = openSync(path, 'r')
  try {
    return behindDamage(readFrames(file))
  } finally {
    closeSync(file)
  }
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Of a log whose checksums are of little-endian words. */
const MAGIC = 0x377f0682

interface Frame {
  /** Of the generation that the log is in: what is left of earlier ones has other salts. */
  readonly isCurrent: boolean
  readonly isCommit: boolean
  /** Its checksum follows from that of the frame before it, whatever that one holds. */
  readonly follows: boolean
}

function behindDamage(frames: Iterable<Frame>): boolean {
  let isWhole = true
  let before: Frame | undefined
  for (const frame of frames) {
    if (!isWhole && frame.isCurrent && frame.follows && before?.isCurrent && before.isCommit) return true
    isWhole &&= frame.isCurrent && frame.follows
    before = frame
  }
  return false
}

/** The sizes that SQLite has. */
const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

/**
 * As far as the second frame, which has the salts of the first; of a single commit nothing can be lost. The database itself is
 * never opened: closing it would drop the locks that SQLite holds on it in this process.
 */
function pageBytesOf(file: number): number {
  const saltsAt = (frame: number) => {
    const salts = Buffer.alloc(8)
    readSync(file, salts, 0, salts.length, frame + 8)
    return salts
  }
  const first = saltsAt(HEADER_BYTES)
  return PAGE_SIZES.find((bytes) => saltsAt(HEADER_BYTES + FRAME_HEADER_BYTES + bytes).equals(first)) ?? PAGE_BYTES
}

function* readFrames(file: number): Iterable<Frame> {
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(file, header, 0, HEADER_BYTES, 0)
  const isHeaderWhole =
    header.readUInt32BE(0) === MAGIC && checksumOf([0, 0], header.subarray(0, 24)).every(isAt(header, 24))
  const pageBytes = isHeaderWhole ? header.readUInt32BE(8) : pageBytesOf(file)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes)
  let salts = isHeaderWhole ? Buffer.from(header.subarray(16, 24)) : undefined
  let checksum: Checksum = isHeaderWhole ? [header.readUInt32BE(24), header.readUInt32BE(28)] : NEVER
  for (let at = HEADER_BYTES; readSync(file, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    salts ??= Buffer.from(frame.subarray(8, 16))
    const expected = checksumOf(checksumOf(checksum, frame.subarray(0, 8)), frame.subarray(FRAME_HEADER_BYTES))
    yield {
      isCurrent: frame.subarray(8, 16).equals(salts),
      isCommit: frame.readUInt32BE(4) !== 0,
      follows: checksum !== NEVER && expected.every(isAt(frame, 16)),
    }
    checksum = [frame.readUInt32BE(16), frame.readUInt32BE(20)]
  }
}

type Checksum = readonly [number, number]

const NEVER: Checksum = [0, 0]

const isAt = (bytes: Buffer, offset: number) => (word: number, index: number) =>
  bytes.readUInt32BE(offset + 4 * index) === word

/** Of pairs of 32-bit words, as the file format of SQLite has it. */
function checksumOf([one, other]: Checksum, bytes: Buffer): Checksum {
  let [a, b] = [one | 0, other | 0]
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readInt32LE(at) + b) | 0
    b = (b + bytes.readInt32LE(at + 4) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}
