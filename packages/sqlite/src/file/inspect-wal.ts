import { closeSync, openSync, readSync } from 'node:fs'
import { PAGE_BYTES } from './connection.ts'
import { fileSize } from './private-file.ts'

/**
 * Whether acknowledged commits follow a damaged frame of the write-ahead log. SQLite reads a log up to the first
 * invalid frame and silently drops the rest, because power loss may tear the commit being written. But with
 * `synchronous: 'full'`, each commit is flushed before the next commit is written. So every commit except the last was
 * acknowledged, and power loss cannot have torn the frames of those commits.
 *
 * Call this function only while nothing writes to the log. It finds no damage in a log that is encrypted or whose byte
 * order is not this machine's.
 */
export function hasCommitsAfterDamage(databasePath: string): boolean {
  const path = `${databasePath}-wal`
  if (fileSize(path) <= HEADER_BYTES) return false
  const file = openSync(path, 'r')
  try {
    return findsCommitAfterDamage(readFrames(file))
  } finally {
    closeSync(file)
  }
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Magic number of a log whose checksums use little-endian words. */
const MAGIC = 0x377f0682

interface Frame {
  /** Whether the frame belongs to the current generation of the log. Frames of earlier generations have other salts. */
  readonly isCurrent: boolean
  readonly isCommit: boolean
  /** Whether the frame's checksum continues the checksum stored in the previous frame, valid or not. */
  readonly isChained: boolean
}

function findsCommitAfterDamage(frames: Iterable<Frame>): boolean {
  let isWhole = true
  let before: Frame | undefined
  for (const frame of frames) {
    if (!isWhole && frame.isCurrent && frame.isChained && before?.isCurrent && before.isCommit) return true
    isWhole &&= frame.isCurrent && frame.isChained
    before = frame
  }
  return false
}

/** The page sizes that SQLite supports. */
const PAGE_SIZES = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

/**
 * Derives the page size from the offset of the second frame, which repeats the salts of the first frame. A log of one
 * frame cannot lose an acknowledged commit, so the default page size is good enough for it. This function never opens
 * the database file, because closing that file would release the locks that SQLite holds on it in this process.
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
  let checksum: Checksum = isHeaderWhole ? [header.readUInt32BE(24), header.readUInt32BE(28)] : NO_CHECKSUM
  for (let at = HEADER_BYTES; readSync(file, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    salts ??= Buffer.from(frame.subarray(8, 16))
    const expected = checksumOf(checksumOf(checksum, frame.subarray(0, 8)), frame.subarray(FRAME_HEADER_BYTES))
    yield {
      isCurrent: frame.subarray(8, 16).equals(salts),
      isCommit: frame.readUInt32BE(4) !== 0,
      isChained: checksum !== NO_CHECKSUM && expected.every(isAt(frame, 16)),
    }
    checksum = [frame.readUInt32BE(16), frame.readUInt32BE(20)]
  }
}

type Checksum = readonly [number, number]

const NO_CHECKSUM: Checksum = [0, 0]

const isAt = (bytes: Buffer, offset: number) => (word: number, index: number) =>
  bytes.readUInt32BE(offset + 4 * index) === word

/** The WAL checksum over pairs of 32-bit words. @see https://sqlite.org/fileformat2.html#checksum_algorithm */
function checksumOf([one, other]: Checksum, bytes: Buffer): Checksum {
  let [a, b] = [one | 0, other | 0]
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readInt32LE(at) + b) | 0
    b = (b + bytes.readInt32LE(at + 4) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}
