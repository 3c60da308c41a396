import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { toFileResource } from './file-resource.ts'
import { type NewFileDeps, newFile } from './new-file.ts'
import { quotaExceeded, type ReceivedFile } from './receive-file.ts'

export interface StoreFileDeps extends CommitOnceDeps, NewFileDeps {
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
  const { limits, basePath } = deps
  return async ({ received, name, principal, key }) => {
    const once = await commitOnce(deps, key, async (earlier) => {
      if (earlier?.type === 'file.insert' && earlier.current === undefined) throw quotaExceeded(limits)
      const { file, writes } = newFile(deps, received, { name, owner: principal.subject })
      return {
        writes,
        reply: { status: 201, body: toFileResource(file), location: `${basePath}/files/${file.id}` },
        remember: true,
        contentOf: null,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}
