import { type NodeDirectory, type NodeRecord, type Page, type PageQuery, perdureError } from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import { pageByName } from '../collections/page-by-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { nodeResource } from './node-resource.ts'

export interface ManageNodesDeps extends CommitOnceDeps {
  /** Missing if no other process uses the storage. */
  readonly nodes?: NodeDirectory | undefined
}

export interface DrainRequest {
  readonly nodeId: string
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

/** The servers that share a storage. */
export interface ManageNodes {
  list(page: PageQuery): Promise<Page<ReturnType<typeof nodeResource>>>
  /**
   * Asks a server to hand over its work and to execute no new runs.
   *
   * @throws PerdureError `node-not-found`, `audit-unavailable`
   */
  drain(request: DrainRequest): Promise<Reply>
}

export function createManageNodes(deps: ManageNodesDeps): ManageNodes {
  const { nodes, executor, clock } = deps

  const listed = async (): Promise<readonly NodeRecord[]> => (nodes === undefined ? [] : nodes.list())

  const resourceOf = (node: NodeRecord, all: readonly NodeRecord[]) => nodeResource(node, { all, executor })

  return {
    async list(page) {
      const all = await listed()
      const resources = all.map((node) => resourceOf(node, all))
      return pageByName(resources, ({ id }) => id, page)
    },
    async drain({ nodeId, principal, key }) {
      const once = await requireAudit(() =>
        commitOnce(deps, key, async () => {
          const all = await listed()
          const node = all.find(({ id }) => id === nodeId)
          if (node === undefined) throw perdureError('node-not-found', { hint: 'pass an id that GET /nodes lists' })
          const entry = { at: clock.now(), action: 'nodes.drain', target: nodeId, detail: { name: node.name } }
          const body = resourceOf({ ...node, isDraining: true }, all)
          return { writes: [auditWrite(principal, entry)], reply: { status: 202, body }, remember: true }
        }),
      )
      // Also for a repeated key: the first server may have died between its commit and its request.
      await nodes?.requestDrain(nodeId)
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
  }
}
