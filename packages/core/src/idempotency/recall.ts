import {
  AppError,
  type Clock,
  type EpochMs,
  type IdempotencyRecord,
  type IdempotencyStore,
  type StoredResponse,
} from '@berth/ports'
import type { Reply } from '../reply.ts'
import type { KeyedRequest } from './keyed-request.ts'

export interface RecallDeps {
  readonly idempotency: IdempotencyStore
  readonly clock: Clock
}

/**
 * The answer given before to this request, or `undefined` when it is new.
 *
 * @throws AppError `idempotency-conflict` when the key came with another request before; `idempotency-in-flight`
 *   while the first one still executes.
 */
export type Recall = (request: KeyedRequest) => Promise<Reply | undefined>

export function createRecall({ idempotency, clock }: RecallDeps): Recall {
  return async (request) => {
    const now = clock.now()
    const record = await idempotency.find(request.id, now)
    return record === undefined ? undefined : answerAgain(record, request, now)
  }
}

/** What a request meets when a live record of its key exists. @throws as `Recall` */
export function answerAgain(record: IdempotencyRecord, request: KeyedRequest, now: EpochMs): Reply {
  if (record.fingerprint !== request.fingerprint) {
    throw new AppError('idempotency-conflict', { hint: 'use a new key for a new request' })
  }
  if (record.response === undefined) {
    const elapsedMs = now - record.createdAt
    throw new AppError('idempotency-in-flight', { retryAfterMs: Math.min(30_000, Math.max(1_000, elapsedMs)) })
  }
  return toReply(record.response, record.runId)
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
