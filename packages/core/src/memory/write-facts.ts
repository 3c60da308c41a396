import type { Visibility } from '@perdure/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import {
  decideFactChange,
  decideFactDeletion,
  decideNewFact,
  type FactChange,
  type FactDecisionsDeps,
  type FactInput,
  requireFact,
} from './fact-decisions.ts'
import { toFactResource } from './memory-resources.ts'

export interface WriteFactsDeps extends FactDecisionsDeps, CommitOnceDeps {
  readonly basePath: string
}

interface FactRequest {
  readonly id: string
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/** Writes facts for the API; each write is one commit that includes its events and its idempotency record. */
export interface WriteFacts {
  /** @throws PerdureError `validation-failed` */
  create(request: { input: FactInput; owner: string; key?: KeyedRequest | undefined }): Promise<Reply>
  /** @throws PerdureError `memory-fact-not-found`, `validation-failed` */
  update(request: FactRequest & { readonly change: FactChange }): Promise<Reply>
  /** @throws PerdureError `memory-fact-not-found` */
  remove(request: FactRequest): Promise<Reply>
}

export function createWriteFacts(deps: WriteFactsDeps): WriteFacts {
  const answer = async (key: KeyedRequest | undefined, decide: Parameters<typeof commitOnce>[2]): Promise<Reply> => {
    const once = await commitOnce(deps, key, decide)
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }

  return {
    create: ({ input, owner, key }) =>
      answer(key, async () => {
        const { fact, writes } = await decideNewFact(deps, input, { owner })
        const location = `${deps.basePath}/memory/facts/${fact.id}`
        return { writes, reply: { status: 201, body: toFactResource(fact), location }, remember: true }
      }),
    update: ({ id, visibility, change, key }) =>
      answer(key, async () => {
        const { fact, writes } = await decideFactChange(deps, await requireFact(deps, id, visibility), change)
        return { writes, reply: { status: 200, body: toFactResource(fact) }, remember: true }
      }),
    remove: ({ id, visibility, key }) =>
      answer(key, async () => {
        const writes = await decideFactDeletion(deps, await requireFact(deps, id, visibility))
        return { writes, reply: { status: 204 }, remember: true }
      }),
  }
}
