import {
  AppError,
  type Clock,
  type IdempotencyRecord,
  type IdempotencyStore,
  type Sealer,
  type StoredResponse,
} from '@perdure/ports'
import type { KeyedRequest } from './keyed-request.ts'
import type { AnswerCache } from './read-cache.ts'
import type { Reply } from './reply.ts'

interface AnswerAgainDeps {
  readonly clock: Clock
  /** Needed where requests are sealed. */
  readonly sealer?: Sealer | undefined
}

export interface RecallDeps extends AnswerAgainDeps {
  readonly idempotency: IdempotencyStore & Partial<Pick<AnswerCache, 'known'>>
}

/**
 * The answer given before to this request, or `undefined` when it is new.
 *
 * @throws AppError `idempotency-conflict` when the key came with another request before, or its answer cannot be read any
 *   more; `idempotency-in-flight` while the first one still executes.
 */
export interface Recall {
  (request: KeyedRequest): Promise<Reply | undefined>
  /** As far as memory tells, without a look at the storage. */
  known(request: KeyedRequest): Reply | undefined
}

export function createRecall(deps: RecallDeps): Recall {
  const { idempotency, clock } = deps
  const answer = (record: IdempotencyRecord | undefined, request: KeyedRequest) =>
    record === undefined ? undefined : answerAgain(record, request, deps)

  const recall = async (request: KeyedRequest) => answer(await idempotency.find(request.id, clock.now()), request)
  const known = (request: KeyedRequest) => answer(idempotency.known?.(request.id, clock.now()), request)
  return Object.assign(recall, { known })
}

/** What a request meets when a live record of its key exists. @throws as `Recall` */
export function answerAgain(record: IdempotencyRecord, request: KeyedRequest, deps: AnswerAgainDeps): Reply {
  if (record.fingerprint !== request.fingerprint) {
    throw new AppError('idempotency-conflict', { hint: 'use a new key for a new request' })
  }
  if (record.response === undefined) {
    const elapsedMs = deps.clock.now() - record.createdAt
    throw new AppError('idempotency-in-flight', { retryAfterMs: Math.min(30_000, Math.max(1_000, elapsedMs)) })
  }
  return toReply(unseal(record.response, record.id, deps.sealer), record.runId)
}

function unseal(response: StoredResponse, id: string, sealer: Sealer | undefined): StoredResponse {
  if (response.sealed !== true) return response
  const body = sealer?.open(response.body, id)
  if (body !== undefined) return { ...response, body }
  throw new AppError('idempotency-conflict', {
    message: 'the answer under this key was sealed by a pepper that is not configured any more',
    hint: 'use a new key, or list the pepper in auth.previousPepperRefs',
  })
}

function toReply({ status, body, location, contentType }: StoredResponse, runId: string | undefined): Reply {
  return {
    status,
    ...(body === '' ? {} : { json: body as NonNullable<Reply['json']> }),
    ...(location === undefined ? {} : { location }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(runId === undefined ? {} : { runId }),
    replayed: true,
  }
}
