import type { Clock, FileRecord, IdGenerator, Write } from '@perdure/ports'
import type { FileLimits, ReceivedFile } from './receive-file.ts'

export interface NewFileDeps {
  readonly ids: IdGenerator
  readonly clock: Clock
  readonly limits: FileLimits
}

interface FileOwner extends Pick<FileRecord, 'owner' | 'name'> {
  /** A stored session, which holds the file from the beginning. */
  readonly sessionId?: string | undefined
  /** A stored run, which holds the file from the beginning if no session does. */
  readonly runId?: string | undefined
}

/**
 * The file of a content that was received, and the writes that store it. They conflict at `file.insert` when the quota of
 * the owner is used up, and at `file.hold` or `file.keep` when the session or the run is deleted.
 */
export function newFile(
  { ids, clock, limits: { maxBytesPerOwner: ownerBytes } }: NewFileDeps,
  { content, ...received }: ReceivedFile,
  { owner, name, ...holders }: FileOwner,
): { readonly file: FileRecord; readonly writes: readonly Write[] } {
  const id = ids.newId('file')
  const file: FileRecord = {
    ...{ id, owner, ...received },
    ...(name === undefined ? {} : { name }),
    createdAt: clock.now(),
  }
  return { file, writes: [{ type: 'file.insert', file, content, ownerBytes }, ...holdNew(file, holders)] }
}

function holdNew({ id, owner }: FileRecord, { sessionId, runId }: Omit<FileOwner, 'owner' | 'name'>): readonly Write[] {
  if (sessionId !== undefined) return [{ type: 'file.hold', sessionId, ids: [id], owner }]
  return runId === undefined ? [] : [{ type: 'file.keep', runId, ids: [id] }]
}
