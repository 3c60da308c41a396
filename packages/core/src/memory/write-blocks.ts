import {
  type BlockRecord,
  type BlockRef,
  type BlockStore,
  type Clock,
  type IdGenerator,
  perdureError,
  type Write,
} from '@perdure/ports'
import { OPERATOR_ID } from '@perdure/protocol'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { DEFAULT_NAMESPACE } from './fact-decisions.ts'
import { toBlockResource } from './memory-resources.ts'

export interface BlockDecisionsDeps {
  readonly blocks: BlockStore
  readonly clock: Clock
  readonly ids: IdGenerator
  /** Maximum number of characters in a block that has no limit of its own. */
  readonly blockLimit: number
}

export interface BlockInput {
  readonly value: string
  readonly namespace?: string | undefined // default: `default`
  readonly limit?: number | undefined // unchanged if omitted
}

interface BlockRequest {
  readonly label: string
  readonly owner: string
  readonly key?: KeyedRequest | undefined
}

/** Writes the blocks of the caller for the API. */
export interface WriteBlocks {
  /** @throws PerdureError `validation-failed` for a malformed label or a value that exceeds the limit of the block */
  put(request: BlockRequest & { readonly input: BlockInput }): Promise<Reply>
  /** @throws PerdureError `memory-block-not-found` */
  remove(request: BlockRequest & { readonly namespace?: string | undefined }): Promise<Reply>
}

export function createWriteBlocks(deps: BlockDecisionsDeps & CommitOnceDeps): WriteBlocks {
  return {
    async put({ label, owner, input, key }) {
      const once = await commitOnce(deps, key, async () => {
        const { block, writes } = await decideBlock(deps, blockRef(owner, label, input.namespace), input)
        return { writes, reply: { status: 200, body: toBlockResource(block) }, remember: true }
      })
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
    async remove({ label, owner, namespace, key }) {
      const once = await commitOnce(deps, key, async () => {
        const ref = blockRef(owner, label, namespace)
        if ((await deps.blocks.find(ref)) === undefined) throw perdureError('memory-block-not-found')
        return { writes: [{ type: 'block.delete', ref }], reply: { status: 204 }, remember: true }
      })
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
  }
}

export const blockRef = (owner: string, label: string, namespace = DEFAULT_NAMESPACE): BlockRef => ({
  owner,
  namespace,
  label,
})

/** The block after the change, and its write. @throws PerdureError `validation-failed` */
export async function decideBlock(
  { blocks, clock, ids, blockLimit }: BlockDecisionsDeps,
  ref: BlockRef,
  { value, limit: requestedLimit }: BlockInput,
): Promise<{ readonly block: BlockRecord; readonly writes: readonly Write[] }> {
  if (!OPERATOR_ID.test(ref.label)) {
    throw perdureError('validation-failed', {
      message: 'label: must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"',
    })
  }
  const existing = await blocks.find(ref)
  const limit = requestedLimit ?? existing?.limit ?? blockLimit
  if (value.length > limit) {
    throw perdureError('validation-failed', {
      message: `value: has ${value.length} characters, but the limit of the block ${ref.label} is ${limit}`,
      hint: 'shorten the value, or raise the limit of the block',
    })
  }
  const now = clock.now()
  const { id = ids.newId('block'), createdAt = now } = existing ?? {}
  const block: BlockRecord = { ...ref, id, value, limit, createdAt, updatedAt: now }
  return { block, writes: [{ type: 'block.put', block }] }
}
