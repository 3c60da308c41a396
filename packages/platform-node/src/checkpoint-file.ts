import { constants, createReadStream, type Stats } from 'node:fs'
import { copyFile, type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AuditCheckpoint, AuditKeys, CheckpointLine, CheckpointLog, EpochMs } from '@perdure/ports'
import { nodeDigest } from './node-digest.ts'
import { createNoteSigner, type NoteSigner } from './note-signer.ts'

export interface CheckpointFileOptions {
  readonly path: string
  /** Keys of the audit chain: the first key signs, and a signature by any of the keys is accepted. */
  readonly keys: AuditKeys
}

export interface CheckpointFile extends CheckpointLog {
  /** The key with which a third party verifies the lines. */
  readonly verifierKey: string
}

const NAME = 'perdure.audit'
const MAX_LINE = 1_024
const LINE =
  /^perdure\.audit (\d{1,15}) ([A-Za-z0-9+/]{43}=) (\S{24}) — perdure\.audit ([A-Za-z0-9+/]{90}[A-Za-z0-9+/=]{2})$/

/**
 * Stores checkpoints in an append-only file. Each line is a C2SP signed note (origin, size, base64 hash, time and
 * signature) whose line breaks are written as spaces.
 */
export function createCheckpointFile({ path, keys }: CheckpointFileOptions): CheckpointFile {
  const [signer, ...earlier] = keys.map((key) =>
    createNoteSigner(NAME, nodeDigest.deriveKey(key, 'perdure/audit-checkpoint/v1')),
  )
  if (signer === undefined) throw new Error('createCheckpointFile: keys is empty')
  const signers = [signer, ...earlier]
  /** The state of the file after this process last used it; `undefined` while there is no file. */
  let known: FileState | undefined
  let isLost = false

  const compare = (found: FileState | undefined) => {
    isLost ||= known !== undefined && !continues(found, known)
  }

  return {
    verifierKey: signer.verifierKey,
    async append(checkpoint) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = await open(path, 'a+', 0o600)
      try {
        compare(await file.stat())
        await removePartialLine(file)
        await file.appendFile(`${formatLine(checkpoint, signer)}\n`)
        await file.datasync()
        known = await file.stat()
      } finally {
        await file.close()
      }
    },
    async *read() {
      let number = 0
      for await (const line of linesOf(path)) {
        number += 1
        yield { number, checkpoint: parseLine(line, signers) } satisfies CheckpointLine
      }
      known ??= await stateOf(path)
    },
    async isIntact() {
      compare(await stateOf(path))
      return !isLost
    },
  }
}

/**
 * Removes every signed checkpoint for which `isKept` is false; lines without a valid signature stay. Keeps the complete
 * old file under the name `old`.
 */
export async function keepCheckpoints(
  { path, keys }: CheckpointFileOptions,
  { old, isKept }: { readonly old: string; readonly isKept: (checkpoint: AuditCheckpoint) => boolean },
): Promise<void> {
  const signers = keys.map((key) => createNoteSigner(NAME, nodeDigest.deriveKey(key, 'perdure/audit-checkpoint/v1')))
  await copyFile(path, old, constants.COPYFILE_EXCL)
  const partial = await open(`${path}.partial`, 'w', 0o600)
  try {
    for await (const line of linesOf(path)) {
      const checkpoint = parseLine(line, signers)
      if (checkpoint === undefined || isKept(checkpoint)) await partial.appendFile(`${line}\n`)
    }
    await partial.datasync()
  } finally {
    await partial.close()
  }
  await rename(`${path}.partial`, path)
}

type FileState = Pick<Stats, 'dev' | 'ino' | 'size'>

/** Lines are only appended, so a file that became shorter has lost lines. */
const continues = (found: FileState | undefined, known: FileState): boolean =>
  found?.dev === known.dev && found.ino === known.ino && found.size >= known.size

async function stateOf(path: string): Promise<FileState | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const noteOf = (seq: string | number, hash: string, at: string) => `${NAME}\n${seq}\n${hash}\n${at}\n`

function formatLine({ seq, hash, at }: AuditCheckpoint, signer: NoteSigner): string {
  const encoded = Buffer.from(hash, 'hex').toString('base64')
  const time = new Date(at).toISOString()
  return `${NAME} ${seq} ${encoded} ${time} — ${NAME} ${signer.sign(noteOf(seq, encoded, time))}`
}

function parseLine(line: string, signers: readonly NoteSigner[]): AuditCheckpoint | undefined {
  const [, seq = '', hash = '', time = '', signature = ''] = LINE.exec(line) ?? []
  const text = noteOf(seq, hash, time)
  if (signature === '' || !signers.some((signer) => signer.verify(text, signature))) return undefined
  return { seq: Number(seq), hash: Buffer.from(hash, 'base64').toString('hex'), at: Date.parse(time) as EpochMs }
}

/** Yields complete lines only; a line over the maximum length may be truncated. */
async function* linesOf(path: string): AsyncGenerator<string, void, void> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = (lines.pop() ?? '').slice(0, MAX_LINE)
      yield* lines
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Removes a partial line left by a crash, so that the next line is not appended to it. */
async function removePartialLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat()
  const length = Math.min(size, MAX_LINE)
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
  const complete = buffer.lastIndexOf(0x0a) + 1
  if (length > 0 && complete < length) await file.truncate(size - length + complete)
}
