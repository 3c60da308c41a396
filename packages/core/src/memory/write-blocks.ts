import {
  type BlockRecord,
  type BlockRef,
  type BlockStore,
  type Clock,
  type EpochMs,
  type IdGenerator,
  perdureError,
  plusMs,
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

/** The version that a conditional write expects: when the block last changed, or `null` if there must be no such block. */
interface Expected<Version> {
  readonly ifUpdatedAt?: Version | undefined
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
  /**
   * @throws PerdureError `validation-failed` for a malformed label or a value that exceeds the limit of the block,
   *   `memory-block-changed`
   */
  put(request: BlockRequest & { readonly input: BlockInput & Expected<string | null> }): Promise<Reply>
  /** @throws PerdureError `memory-block-not-found`, `memory-block-changed` */
  remove(request: BlockRequest & Expected<string> & { readonly namespace?: string | undefined }): Promise<Reply>
}

export function createWriteBlocks(deps: BlockDecisionsDeps & CommitOnceDeps): WriteBlocks {
  return {
    async put({ label, owner, input, key }) {
      const once = await commitOnce(deps, key, async () => {
        const ref = blockRef(owner, label, input.namespace)
        const { block, writes } = await decideBlock(deps, ref, { ...input, ifUpdatedAt: instantOf(input.ifUpdatedAt) })
        return { writes, reply: { status: 200, body: toBlockResource(block) }, remember: true }
      })
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
    async remove({ label, owner, namespace, ifUpdatedAt, key }) {
      const once = await commitOnce(deps, key, async () => {
        const ref = blockRef(owner, label, namespace)
        const found = await deps.blocks.find(ref)
        if (found === undefined) throw perdureError('memory-block-not-found')
        const from = instantOf(ifUpdatedAt)
        if (from !== undefined) refuseChanged(found, from)
        return { writes: [{ type: 'block.delete', ref, from }], reply: { status: 204 }, remember: true }
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

const instantOf = <Nothing extends null | undefined>(text: string | Nothing): EpochMs | Nothing =>
  typeof text === 'string' ? (Date.parse(text) as EpochMs) : text

function refuseChanged(found: BlockRecord | undefined, expected: EpochMs | null): void {
  if ((found?.updatedAt ?? null) === expected) return
  throw perdureError('memory-block-changed', { hint: 'read the block again and decide on its present value' })
}

/** The block after the change, and its write. @throws PerdureError `validation-failed`, `memory-block-changed` */
export async function decideBlock(
  { blocks, clock, ids, blockLimit }: BlockDecisionsDeps,
  ref: BlockRef,
  { value, limit: requestedLimit, ifUpdatedAt }: BlockInput & Expected<EpochMs | null>,
): Promise<{ readonly block: BlockRecord; readonly writes: readonly Write[] }> {
  if (!OPERATOR_ID.test(ref.label)) {
    throw perdureError('validation-failed', {
      message: 'label: must start with a letter or digit and contain at most 128 letters, digits, "_" or "-"',
    })
  }
  const existing = await blocks.find(ref)
  if (ifUpdatedAt !== undefined) refuseChanged(existing, ifUpdatedAt)
  const limit = requestedLimit ?? existing?.limit ?? blockLimit
  if (value.length > limit) {
    throw perdureError('validation-failed', {
      message: `value: has ${value.length} characters, but the limit of the block ${ref.label} is ${limit}`,
      hint: 'shorten the value, or raise the limit of the block',
    })
  }
  const now = clock.now()
  const { id = ids.newId('block'), createdAt = now } = existing ?? {}
  // Two changes never have the same time, so that a conditional write recognizes each of them.
  const updatedAt = existing === undefined || existing.updatedAt < now ? now : plusMs(existing.updatedAt, 1)
  const block: BlockRecord = { ...ref, id, value, limit, createdAt, updatedAt }
  return { block, writes: [{ type: 'block.put', block, from: ifUpdatedAt }] }
}
