import {
  type Clock,
  type CommitOutcome,
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
import { storedFingerprint } from './first-use.ts'
import type { KeyedRequest } from './keyed-request.ts'
import type { AnswerCache } from './read-cache.ts'
import { replayReserved } from './recall.ts'
import type { Reply } from './reply.ts'

export interface CommitOnceDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  /** How long an answer is stored, in milliseconds. */
  readonly idempotencyTtlMs: number
  /** Encrypts answers that contain a secret; required for requests with such answers. */
  readonly sealer?: Sealer | undefined
  /** Whether other processes write to the storage at the same time; false when missing. */
  readonly isStorageShared?: boolean | undefined
  /** The name of this process in a shared storage. */
  readonly executor?: string | undefined
  /** Caches a stored answer when a repeated key finds it. */
  readonly answerCache?: Pick<AnswerCache, 'startReading'> | undefined
}

/** What a use case decided: the writes, and the answer once they are committed. */
export interface Decision {
  readonly writes: readonly Write[]
  readonly reply: Reply
  /** The run whose outcome becomes the answer. The key stays in flight until that outcome unless `remember` is true. */
  readonly runId?: string
  /** Whether to store `reply` as the answer for the key. */
  readonly remember: boolean
  /**
   * Id of the run, session or approval whose content the answer contains; deleting that resource also deletes the
   * answer. Defaults to the run, or else to the resource in the request path. `null` if it contains no
   * such content.
   */
  readonly contentOf?: string | null
  /** How long the caller ignores suspensions of the run that depend on a time. */
  readonly patientMs?: number | undefined
  /** Commits the writes; by default, the unit of work does. */
  readonly commit?: (writes: readonly Write[]) => Promise<CommitOutcome>
  /** Undoes in-memory preparation if the decision was not committed. */
  readonly discard?: () => void
}

/** The decision that was committed, or the answer that an earlier request with the same key received. */
export type CommitOnceResult<D extends Decision = Decision> =
  | { readonly kind: 'committed'; readonly decision: D }
  | { readonly kind: 'replayed'; readonly reply: Reply }

/**
 * Commits a decision together with the record of its key, so that a repeated request never takes effect twice. Calls
 * `decide` again after a write conflict, with that conflict; the result holds the decision of the attempt that was committed. A refusal
 * thrown by `decide` leaves no record.
 *
 * @throws PerdureError what `decide` throws; `idempotency-conflict`, `idempotency-in-flight`; `internal-error` after
 *   `MAX_COMMIT_ATTEMPTS` write conflicts
 */
export function commitOnce<D extends Decision>(
  deps: CommitOnceDeps,
  request: KeyedRequest | undefined,
  decide: (earlier?: Conflict) => Promise<D>,
): Promise<CommitOnceResult<D>> {
  let earlier: Conflict | undefined
  return retryConflicts<CommitOnceResult<D>>(async () => {
    const decision = await decide(earlier)
    const remember = request === undefined ? undefined : deps.answerCache?.startReading()
    const conflict = await tryCommit(deps, request, decision)
    if (conflict === undefined) {
      remember?.(undefined)
      return { kind: 'committed', decision }
    }
    earlier = conflict
    if (request === undefined || conflict.type !== 'idempotency.reserve') return CONFLICT
    const { current } = conflict
    remember?.(current)
    return { kind: 'replayed', reply: replayReserved(current, request, deps) }
  })
}

async function tryCommit(
  deps: CommitOnceDeps,
  request: KeyedRequest | undefined,
  decision: Decision,
): Promise<Conflict | undefined> {
  try {
    const { commit = deps.unitOfWork.commit } = decision
    const outcome = await commit([...reservation(deps, request, decision), ...decision.writes])
    if (outcome.committed) return undefined
    decision.discard?.()
    return outcome.conflict
  } catch (error) {
    decision.discard?.()
    throw error
  }
}

/**
 * The timer of a patient caller starts after the commit, and another clock may be ahead. A record stays patient for longer,
 * so that no other process answers it before the caller.
 */
const PATIENCE_MARGIN_MS = 5_000

/** The writes that reserve the key and the claims of a request. Put them first, so that their conflicts are reported before any other. */
export function reservation(deps: CommitOnceDeps, request: KeyedRequest | undefined, decision: Decision): Write[] {
  if (request === undefined) return []
  const { claim, includes = [] } = request
  const identities = [request, ...(claim === undefined ? [] : [claim]), ...includes]
  return identities.map((identity) => reserve(deps, identity, decision))
}

function reserve(deps: CommitOnceDeps, request: KeyedRequest, decision: Decision): Write {
  const now = deps.clock.now()
  const { isStorageShared = false, executor } = deps
  const { patientMs } = decision
  const record: IdempotencyRecord = {
    ...(isStorageShared && patientMs !== undefined
      ? { patientUntil: plusMs(now, patientMs + PATIENCE_MARGIN_MS) }
      : {}),
    executor,
    id: request.id,
    fingerprint: storedFingerprint(request),
    runId: decision.runId,
    contentOf: contentOf(request, decision),
    createdAt: now,
    expiresAt: plusMs(now, deps.idempotencyTtlMs),
    response: decision.remember ? sealIfAsked(deps, request, toStoredResponse(decision.reply)) : undefined,
  }
  return { type: 'idempotency.reserve', record, now }
}

function contentOf(request: KeyedRequest, { contentOf, runId, reply }: Decision): string | undefined {
  if (contentOf !== undefined) return contentOf ?? undefined
  return runId ?? reply.runId ?? request.contentOf
}

/** The part of a reply that is stored for repeated requests. */
export function toStoredResponse({ status, body, json, location, contentType }: Reply): StoredResponse {
  const text = json ?? (body === undefined ? '' : toJsonText(body))
  return { status, body: text, location, contentType }
}

/** @throws Error without a sealer, instead of storing a secret in plain text */
function sealIfAsked(
  { sealer }: CommitOnceDeps,
  { id, sealed }: KeyedRequest,
  response: StoredResponse,
): StoredResponse {
  if (sealed !== true || response.body === '') return response
  if (sealer === undefined) throw new Error('no sealer configured for an answer that contains a secret')
  return { ...response, body: sealer.seal(response.body, id), sealed: true }
}
