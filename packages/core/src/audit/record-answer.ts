import type { Clock, Logger, NewAuditEntry, RequestOrigin, UnitOfWork } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import type { AuditSpool, SpooledEntry } from './audit-spool.ts'
import { type AuditActor, actorOf } from './audit-write.ts'
import type { RefusalTally } from './refusal-tally.ts'
import type { PrivilegedAction, RequestLog } from './request-log.ts'
import { auditUnavailable, requireAudit } from './require-audit.ts'

/** A request that is about to be answered. */
export interface AnsweredRequest {
  /** `undefined` when no operation matched. */
  readonly operationId: string | undefined
  readonly isPrivileged: boolean
  readonly method: string
  readonly route: string | undefined // pattern, including the base path
  readonly target: string | undefined // ids in the path
  /** `undefined` for an unauthenticated request. */
  readonly principal: AuditActor | undefined
  readonly status: number
  readonly error?: ErrorCode | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly clientAddress: string
  /** Whether the answer was stored by an earlier request with the same Idempotency-Key. */
  readonly isReplayed: boolean
  /**
   * The request log finds the request's privileged actions by this object: pass the object with which the actions were
   * committed, not a copy.
   */
  readonly origin: RequestOrigin
}

/**
 * Records a request before its answer is sent. For a privileged request, resolves when the entry is durable.
 *
 * @throws PerdureError `audit-unavailable` when the answer must not be sent
 */
export type RecordAnswer = (request: AnsweredRequest) => Promise<void>

interface RecordDeps {
  readonly clock: Clock
  readonly requestLog: RequestLog
  readonly logger: Logger
}

/** For a chain in the main database: records privileged requests whose action committed no entry of its own. */
export function createRecordPrivilegedRequest(deps: RecordDeps & { readonly unitOfWork: UnitOfWork }): RecordAnswer {
  const { unitOfWork, requestLog } = deps

  return async (request) => {
    const isRecorded = requestLog.take(request.origin).length > 0
    if (isRecorded || !request.isPrivileged || request.principal === undefined || !isAllowedOrDenied(request)) return
    const entry = toEntry(deps, request)
    const written = requireAudit(async () => void (await unitOfWork.commit([{ type: 'audit.append', entry }])))
    await requireWritten(deps, request, written)
  }
}

/** For a chain in its own file: records every request, merged with the entry of its privileged action, if any. */
export function createRecordEveryRequest(
  deps: RecordDeps & { readonly spool: AuditSpool; readonly tally: RefusalTally; readonly moveSoon: () => void },
): RecordAnswer {
  const { requestLog, spool, tally, moveSoon, logger } = deps

  return async (request) => {
    const actions = requestLog.take(request.origin)
    if (isAnonymousRefusal(request)) {
      return tally.count({ ip: request.clientAddress, error: request.error ?? 'unmatched' })
    }
    const spooled = toSpooledEntry(toEntry(deps, request), actions)
    const { action } = spooled.entry
    if (!request.isPrivileged && actions.length === 0) {
      if (!spool.offer(spooled)) logger.warn('audit spool is full; dropped an audit entry', { action })
      return
    }
    const written = spool.write(spooled)
    // Staged entries are already durable and will be moved to the chain.
    if (actions.length > 0) await written.catch(() => undefined)
    else await requireWritten(deps, request, written)
    moveSoon()
  }
}

const DENIED = new Set([401, 403, 421, 429])

const decisionOf = ({ status }: AnsweredRequest): NewAuditEntry['decision'] =>
  DENIED.has(status) ? 'denied' : 'allowed'

/**
 * Whether the request succeeded or was denied. A malformed request or a request for a missing row counts as neither.
 */
const isAllowedOrDenied = (request: AnsweredRequest): boolean =>
  (request.status >= 200 && request.status < 300) || decisionOf(request) === 'denied'

/**
 * Fails a successful request whose entry cannot be written. A refused request had no effect; its answer is still sent.
 */
async function requireWritten({ logger }: RecordDeps, request: AnsweredRequest, written: Promise<void>): Promise<void> {
  try {
    await written
  } catch (error) {
    if (request.status < 300) throw auditUnavailable(error)
    logger.error('cannot record a refused request', error, { requestId: request.requestId })
  }
}

function toEntry({ clock }: RecordDeps, request: AnsweredRequest): NewAuditEntry {
  const { principal, operationId, method, route, target, status, error, durationMs, requestId, clientAddress } = request
  const isNotable = error !== undefined || request.isReplayed
  return {
    at: clock.now(),
    actor: actorOf(principal ?? { subject: 'anonymous' }),
    action: operationId ?? 'requests.unmatched',
    ...{ method, route, target, status, requestId },
    decision: decisionOf(request),
    durationMs: Math.round(durationMs),
    ip: clientAddress,
    detail: isNotable ? { ...(error && { error }), ...(request.isReplayed && { replayed: true }) } : undefined,
  }
}

/**
 * Whether an unauthenticated request was refused. Anyone can cause any number of such refusals, so they are only
 * counted.
 */
const isAnonymousRefusal = ({ principal, error, operationId }: AnsweredRequest): boolean =>
  principal === undefined && (error !== undefined || operationId === undefined)

/** Merges the request and its action into one entry. If the request has several actions, each keeps its own entry. */
function toSpooledEntry(entry: NewAuditEntry, actions: readonly PrivilegedAction[]): SpooledEntry {
  const action = actions.length === 1 && actions[0]?.entry.action === entry.action ? actions[0] : undefined
  return { entry: mergeAction(entry, action), source: action?.key }
}

function mergeAction(entry: NewAuditEntry, action: PrivilegedAction | undefined): NewAuditEntry {
  if (action === undefined) return entry
  const detail = { ...action.entry.detail, ...entry.detail }
  return { ...entry, target: action.entry.target ?? entry.target, detail }
}
