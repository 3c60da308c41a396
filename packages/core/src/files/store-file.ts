import type { FileRecord, IdGenerator, Write } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { toFileResource } from './file-resource.ts'
import { type FileLimits, quotaExceeded, type ReceivedFile } from './receive-file.ts'

export interface StoreFileDeps extends CommitOnceDeps {
  readonly ids: IdGenerator
  readonly limits: FileLimits
  readonly basePath: string
}

/** Stores the record of a content that was received. @throws PerdureError `file-quota-exceeded` */
export type StoreFile = (request: {
  readonly received: ReceivedFile
  readonly name?: string | undefined
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}) => Promise<Reply>

export function createStoreFile(deps: StoreFileDeps): StoreFile {
  const { ids, clock, limits, basePath } = deps
  return async ({ received, name, principal, key }) => {
    const once = await commitOnce(deps, key, async (earlier) => {
      if (earlier?.type === 'file.insert' && earlier.current === undefined) throw quotaExceeded(limits)
      const file: FileRecord = {
        ...recordOf(received, { id: ids.newId('file'), name, owner: principal.subject }),
        createdAt: clock.now(),
      }
      return {
        writes: [fileInsertion(file, received, limits)],
        reply: { status: 201, body: toFileResource(file), location: `${basePath}/files/${file.id}` },
        remember: true,
        contentOf: null,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

export const recordOf = (
  { sha256, size, mediaType }: ReceivedFile,
  { id, name, owner }: Pick<FileRecord, 'id' | 'name' | 'owner'>,
): Omit<FileRecord, 'createdAt'> => ({
  ...{ id, owner, sha256, size, mediaType },
  ...(name === undefined ? {} : { name }),
})

export const fileInsertion = (
  file: FileRecord,
  { content }: ReceivedFile,
  { maxBytesPerOwner: ownerBytes }: FileLimits,
): Write => ({ type: 'file.insert', file, content, ownerBytes })
