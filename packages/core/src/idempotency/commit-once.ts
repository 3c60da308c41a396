import {
  type Clock,
  type Conflict,
  type IdempotencyRecord,
  plusMs,
  type Sealer,
  type StoredResponse,
  toJsonText,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'
import type { KeyedRequest } from './keyed-request.ts'
import type { AnswerCache } from './read-cache.ts'
import { answerAgain } from './recall.ts'
import type { Reply } from './reply.ts'

export interface CommitOnceDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  /** How long an answer is remembered. Milliseconds. */
  readonly idempotencyTtlMs: number
  /** Needed where requests are sealed. */
  readonly sealer?: Sealer | undefined
  /** Remembers the answers that are met. */
  readonly knownAnswers?: Pick<AnswerCache, 'startReading'> | undefined
}

/** What a use case has decided: what to write, and what to answer once it is written. */
export interface Decision {
  readonly writes: readonly Write[]
  readonly reply: Reply
  /** The run that will give the answer later; the key then stays in flight, unless `remember` says otherwise. */
  readonly runId?: string
  /** Whether `reply` itself is the answer to remember. */
  readonly remember: boolean
  /**
   * Id of the run, session or approval whose content the answer holds, so that it goes with it; the run's, or what the
   * path of the request names, when missing. `null` for none.
   */
  readonly contentOf?: string | null
  /** Undoes what was prepared in memory when the decision was not committed. */
  readonly discard?: () => void
}

/** The decision that was committed, or the answer that an earlier request with the same key received. */
export type Once<D extends Decision = Decision> =
  | { readonly kind: 'committed'; readonly decision: D }
  | { readonly kind: 'replayed'; readonly reply: Reply }

/**
 * Commits a decision together with the record of its key, so that a repeated request never takes effect twice. Calls
 * `decide` again after a write conflict; the result holds the decision of the attempt that was committed. A refusal thrown
 * by `decide` leaves no record.
 *
 * @throws AppError what `decide` throws; `idempotency-conflict`, `idempotency-in-flight`; `internal-error` after
 *   `MAX_COMMIT_ATTEMPTS` write conflicts
 */
export function commitOnce<D extends Decision>(
  deps: CommitOnceDeps,
  request: KeyedRequest | undefined,
  decide: () => Promise<D>,
): Promise<Once<D>> {
  return retryConflicts<Once<D>>(async () => {
    const decision = await decide()
    const remember = deps.knownAnswers?.startReading()
    const conflict = await tryCommit(deps, request, decision)
    if (conflict === undefined) return { kind: 'committed', decision }
    if (request === undefined || conflict.type !== 'idempotency.reserve') return CONFLICT
    remember?.(conflict.current)
    return { kind: 'replayed', reply: answerAgain(conflict.current, request, deps) }
  })
}

async function tryCommit(
  deps: CommitOnceDeps,
  request: KeyedRequest | undefined,
  decision: Decision,
): Promise<Conflict | undefined> {
  try {
    const outcome = await deps.unitOfWork.commit([...reservation(deps, request, decision), ...decision.writes])
    if (outcome.committed) return undefined
    decision.discard?.()
    return outcome.conflict
  } catch (error) {
    decision.discard?.()
    throw error
  }
}

/** The write that remembers a keyed request; put it first, so that its conflict is found first. */
export function reservation(deps: CommitOnceDeps, request: KeyedRequest | undefined, decision: Decision): Write[] {
  if (request === undefined) return []
  const now = deps.clock.now()
  const record: IdempotencyRecord = {
    id: request.id,
    fingerprint: request.fingerprint,
    runId: decision.runId,
    contentOf: contentOf(request, decision),
    createdAt: now,
    expiresAt: plusMs(now, deps.idempotencyTtlMs),
    response: decision.remember ? sealIfAsked(deps, request, toStoredResponse(decision.reply)) : undefined,
  }
  return [{ type: 'idempotency.reserve', record, now }]
}

function contentOf(request: KeyedRequest, { contentOf, runId, reply }: Decision): string | undefined {
  if (contentOf !== undefined) return contentOf ?? undefined
  return runId ?? reply.runId ?? request.contentOf
}

/** The part of an answer that a repeated key gets again. */
export function toStoredResponse({ status, body, json, location, contentType }: Reply): StoredResponse {
  const text = json ?? (body === undefined ? '' : toJsonText(body))
  return { status, body: text, location, contentType }
}

/** @throws Error rather than to store a secret as it is */
function sealIfAsked(
  { sealer }: CommitOnceDeps,
  { id, sealed }: KeyedRequest,
  response: StoredResponse,
): StoredResponse {
  if (sealed !== true || response.body === '') return response
  if (sealer === undefined) throw new Error('there is no sealer for an answer that holds a secret')
  return { ...response, body: sealer.seal(response.body, id), sealed: true }
}
