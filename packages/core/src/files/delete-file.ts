import { type FileStore, perdureError, type Visibility } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { findFile } from './read-files.ts'

export interface DeleteFileDeps extends CommitOnceDeps {
  readonly files: FileStore
}

/** Deletes an upload. A file that sessions or runs hold is deleted with them. @throws PerdureError `file-not-found`, `file-in-use` */
export type DeleteFile = (request: {
  readonly fileId: string
  readonly visibility: Visibility
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}) => Promise<Reply>

export function createDeleteFile(deps: DeleteFileDeps): DeleteFile {
  const { files, clock } = deps
  return async ({ fileId, visibility, principal, key }) => {
    const once = await commitOnce(deps, key, async () => {
      await findFile(files, fileId, visibility)
      const [sessionId] = await files.holders(fileId)
      if (sessionId !== undefined) {
        throw perdureError('file-in-use', { hint: `delete the sessions that hold the file, such as ${sessionId}` })
      }
      const [runId] = await files.holdingRuns(fileId, 1)
      if (runId !== undefined) {
        throw perdureError('file-in-use', {
          message: `the run ${runId} holds the file: its input shows the file, or one of its calls has returned or written it`,
          hint: 'delete the session or the thread of the run, or wait until retention deletes the run',
        })
      }
      return {
        writes: [
          { type: 'file.delete', id: fileId },
          auditWrite(principal, { at: clock.now(), action: 'files.delete', target: fileId }),
        ],
        reply: { status: 204 },
        remember: true,
        contentOf: null,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}
