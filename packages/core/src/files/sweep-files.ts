import { type BlobStore, type EpochMs, type FileStore, plusMs, type StoredBlob, type UnitOfWork } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'

export interface SweepFilesDeps extends SupervisedLoopDeps {
  readonly files: Pick<FileStore, 'inUse'>
  readonly blobs: BlobStore
  readonly unitOfWork: UnitOfWork
}

const HOUR_MS = 3_600_000
/** An upload that neither a session nor a run holds by then is deleted. */
export const UPLOAD_TTL_MS = 24 * HOUR_MS
/** The file that refers to a blob is stored right after it, so an older blob without a file is left over. */
export const BLOB_GRACE_MS = HOUR_MS
const EVERY_MS = 600_000
const FILES_PER_COMMIT = 500
const BLOBS_PER_QUERY = 200

/** Deletes uploads that neither a session nor a run has held, and blobs to which no file refers: of deleted files, and of requests that were cut off. */
export function createFileSweep(deps: SweepFilesDeps): Daemon {
  const { files, blobs, unitOfWork, clock, logger } = deps
  let sweptAtMs: number | undefined

  /** Returns whether all old uploads are gone. */
  const prune = async (before: EpochMs): Promise<boolean> => {
    const outcome = await unitOfWork.commit([{ type: 'file.prune', before, limit: FILES_PER_COMMIT }])
    return !outcome.committed || (outcome.counts[0] ?? 0) < FILES_PER_COMMIT
  }

  const deleteUnused = async (found: readonly StoredBlob[], before: EpochMs): Promise<number> => {
    const used = new Set(await files.inUse(found.map(({ sha256 }) => sha256)))
    let deleted = 0
    for (const { sha256 } of found) if (!used.has(sha256) && (await blobs.delete(sha256, before))) deleted += 1
    return deleted
  }

  const sweepBlobs = async (before: EpochMs): Promise<number> => {
    let deleted = 0
    let found: StoredBlob[] = []
    for await (const blob of blobs.list(before)) {
      found.push(blob)
      if (found.length < BLOBS_PER_QUERY) continue
      deleted += await deleteUnused(found, before)
      found = []
    }
    return found.length === 0 ? deleted : deleted + (await deleteUnused(found, before))
  }

  return createSupervisedLoop(deps, {
    name: 'files',
    duty: 'retention',
    async work() {
      if (sweptAtMs !== undefined && clock.monotonicMs() - sweptAtMs < EVERY_MS) return undefined
      const now = clock.now()
      if (!(await prune(plusMs(now, -UPLOAD_TTL_MS)))) return 0
      const parts = await blobs.discard(plusMs(now, -UPLOAD_TTL_MS))
      const deleted = await sweepBlobs(plusMs(now, -BLOB_GRACE_MS))
      if (deleted + parts > 0) logger.info('removed unused contents of files', { blobs: deleted, parts })
      sweptAtMs = clock.monotonicMs()
      return undefined
    },
  })
}
