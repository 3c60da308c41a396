import {
  type Clock,
  definedMembers,
  type IdempotencyRecord,
  type IdempotencyStore,
  isRefusal,
  isStorageBusy,
  perdureError,
  type Sealer,
  type StoredResponse,
} from '@perdure/ports'
import { compareToFirstUse } from './first-use.ts'
import type { KeyedRequest } from './keyed-request.ts'
import type { AnswerCache } from './read-cache.ts'
import type { Reply } from './reply.ts'

interface ReplayAnswerDeps {
  readonly clock: Clock
  /** Decrypts answers that contain a secret; required for requests with such answers. */
  readonly sealer?: Sealer | undefined
}

export interface RecallDeps extends ReplayAnswerDeps {
  readonly idempotency: IdempotencyStore & Partial<Pick<AnswerCache, 'fromCache' | 'expectsRepeats'>>
  /**
   * Answers the keys of a run if it has an outcome. The process that would have done so may be gone.
   *
   * @returns whether the run has an outcome
   */
  readonly settleKeys?: ((runId: string) => Promise<boolean>) | undefined
}

/**
 * Returns the stored answer to a repeated request, or `undefined` for a new one and for one that reads its answer again.
 *
 * @throws PerdureError `idempotency-conflict` if the key was used for a different request or by a caller that could see
 *   more rows, or its answer can no longer be unsealed; `idempotency-in-flight` while the first request is still executing
 */
export interface Recall {
  (request: KeyedRequest): Promise<Reply | undefined>
  /**
   * The run for which an earlier request has used the key, even while that request is executing.
   *
   * @throws PerdureError `idempotency-conflict` as `Recall`
   */
  runOf(request: KeyedRequest): Promise<string | undefined>
  /** Like `Recall`, but only from memory, without a storage read. */
  fromCache(request: KeyedRequest): Reply | undefined
  /**
   * Like `Recall`, for a request whose commit finds a repeated key: reads the storage only while most keys are repeated,
   * for example while clients repeat what they had sent to another process. If the storage cannot be read at the moment,
   * it returns `undefined`: the commit waits for the storage.
   */
  beforeCommit(request: KeyedRequest): Promise<Reply | undefined> | Reply | undefined
  /**
   * A request can be refused because an identical concurrent request took effect first. Returns the stored answer of that
   * request.
   *
   * @throws `refusal` if no other request has used the key; otherwise as `Recall`
   */
  afterRefusal(request: KeyedRequest | undefined, refusal: unknown): Promise<Reply>
}

export function createRecall(deps: RecallDeps): Recall {
  const { idempotency, clock, settleKeys } = deps
  const answer = (record: IdempotencyRecord | undefined, request: KeyedRequest) => {
    if (record === undefined) return undefined
    const reply = replayAnswer(record, request, deps)
    return request.rereads === true ? undefined : reply
  }

  const find = ({ id }: KeyedRequest) => idempotency.find(id, clock.now())
  const recall = async (request: KeyedRequest) => {
    const record = await find(request)
    const openRunId = record?.response === undefined ? record?.runId : undefined
    const isSettled = openRunId !== undefined && (await settleKeys?.(openRunId)) === true
    return answer(isSettled ? await find(request) : record, request)
  }
  const runOf = async (request: KeyedRequest) => {
    const record = await find(request)
    if (record !== undefined) refuseOther(record, request)
    return record?.runId
  }
  const fromCache = (request: KeyedRequest) => answer(idempotency.fromCache?.(request.id, clock.now()), request)
  const beforeCommit = (request: KeyedRequest) =>
    idempotency.expectsRepeats?.() === true ? recall(request).catch(passBusyStorage) : fromCache(request)
  const afterRefusal = async (request: KeyedRequest | undefined, refusal: unknown) => {
    const reply = request !== undefined && isRefusal(refusal) ? await recall(request) : undefined
    if (reply === undefined) throw refusal
    return reply
  }
  return Object.assign(recall, { runOf, fromCache, beforeCommit, afterRefusal })
}

function passBusyStorage(error: unknown): undefined {
  if (!isStorageBusy(error)) throw error
}

/**
 * Answers a request whose commit found that an earlier request has reserved its key or one of its claims.
 *
 * @throws PerdureError as `Recall`; `idempotency-conflict` if the request only includes what the earlier one has taken
 */
export function replayReserved(record: IdempotencyRecord, request: KeyedRequest, deps: ReplayAnswerDeps): Reply {
  const { claim, includes = [] } = request
  if (includes.some(({ id }) => id === record.id)) {
    throw perdureError('idempotency-conflict', {
      message: 'another request has taken a part of this one at the same time',
      hint: 'send the request again',
    })
  }
  return replayAnswer(record, record.id === claim?.id ? claim : request, deps)
}

/** Answers a request whose key has an unexpired record. @throws as `Recall` */
export function replayAnswer(record: IdempotencyRecord, request: KeyedRequest, deps: ReplayAnswerDeps): Reply {
  refuseOther(record, request)
  if (record.response === undefined) {
    const elapsedMs = deps.clock.now() - record.createdAt
    throw perdureError('idempotency-in-flight', { retryAfter: Math.min(30_000, Math.max(1_000, elapsedMs)) })
  }
  return toReply(unseal(record.response, record.id, deps.sealer), record.runId)
}

/** @throws PerdureError `idempotency-conflict` if the record is of another request, or of a caller that could see more rows */
function refuseOther(record: IdempotencyRecord, request: KeyedRequest): void {
  const comparison = compareToFirstUse(record.fingerprint, request)
  if (comparison === 'different') throw perdureError('idempotency-conflict', { hint: 'use a new key for each request' })
  if (comparison === 'narrower') {
    throw perdureError('idempotency-conflict', {
      message: 'the key was used by a token that may see more rows than this token',
      hint: 'use a new key, or the token that used the key first',
    })
  }
}

function unseal(response: StoredResponse, id: string, sealer: Sealer | undefined): StoredResponse {
  if (response.sealed !== true) return response
  const body = sealer?.open(response.body, id)
  if (body !== undefined) return { ...response, body }
  throw perdureError('idempotency-conflict', {
    message: 'the answer for this key was sealed with a pepper that is no longer configured',
    hint: 'use a new key, or add the pepper to auth.previousPepperRefs',
  })
}

function toReply({ status, body, location, contentType }: StoredResponse, runId: string | undefined): Reply {
  return {
    status,
    ...definedMembers({
      json: body === '' ? undefined : (body as NonNullable<Reply['json']>),
      location,
      contentType,
      runId,
    }),
    replayed: true,
  }
}
