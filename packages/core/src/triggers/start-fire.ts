import {
  definedMembers,
  type EpochMs,
  EVERY_ROW,
  type FireRecord,
  fromJsonText,
  isRefusal,
  isStorageError,
  type Meter,
  type RunRecord,
  type SessionStore,
  type Tracer,
  type TriggerRecord,
  type TriggerStore,
  type Write,
} from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import type { StartRun } from '../engine/start-run.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { failSpan } from '../tracing/step-span.ts'
import type { FireMetadata } from './fire-end.ts'
import { toIso } from './trigger-events.ts'

export interface StartFireDeps {
  readonly triggers: TriggerStore
  readonly sessions: SessionStore
  readonly startRun: StartRun
  readonly meter: Meter
  readonly tracer: Tracer
}

export interface StartFireRequest {
  readonly trigger: TriggerRecord
  readonly fire: FireRecord
  /** Returns the writes to commit together with the run. May throw to prevent the start. */
  readonly writes: (started: FireRecord) => Promise<readonly Write[]>
  /** The idempotency key of a request that fires by hand; defaults to a key derived from the fire. */
  readonly key?: KeyedRequest | undefined
  readonly reply?: ((run: RunRecord) => Reply) | undefined
  /** The trace context of a request that fires by hand. */
  readonly traceparent?: string | undefined
  readonly at: EpochMs
}

/**
 * Starts the run of a fire. The fire, its trigger, the run and their events are committed together.
 *
 * @throws PerdureError the errors of `StartRun`, and any error that `writes` throws
 */
export async function startFire(deps: StartFireDeps, request: StartFireRequest): Promise<Reply> {
  const { tracer } = deps
  const { trigger, fire, traceparent } = request
  if (!tracer.isEnabled) return startRunOfFire(deps, request)
  const span = tracer.start(
    'trigger.fire',
    { 'perdure.trigger.id': trigger.id, 'perdure.fire.id': fire.id },
    traceparent,
  )
  try {
    const reply = await startRunOfFire(deps, { ...request, traceparent: span.traceparent })
    span.end()
    return reply
  } catch (error) {
    failSpan(span, error)
    throw error
  }
}

async function startRunOfFire(deps: StartFireDeps, request: StartFireRequest): Promise<Reply> {
  const { trigger, fire, writes, key, reply, at, traceparent } = request
  const { target } = trigger
  const input = target.input ?? fire.input
  const metadata: FireMetadata = { fireId: fire.id, scheduledAt: toIso(fire.scheduledAt) }
  return deps.startRun({
    target: { kind: target.kind, id: target.id },
    body: {
      input: input === undefined ? undefined : fromJsonText(input),
      sessionId: target.sessionId ?? fire.sessionId,
      metadata: { ...metadata },
    },
    principal: await principalOf(deps, trigger),
    key: key ?? { id: `fire:${fire.id}`, fingerprint: fire.id },
    traceparent,
    answer: 'accepted',
    origin: {
      triggerId: trigger.id,
      writes: (run) => writes({ ...fire, status: 'started', firedAt: at, runId: run.id }),
      ...definedMembers({ reply }),
    },
  })
}

/**
 * The principal on whose behalf a trigger acts. A trigger declared in code may do everything. The creator of a trigger
 * was authorized to use or to create its session when the trigger was created; that permission does not cover a session
 * that another owner created later under the same id.
 */
async function principalOf({ sessions }: StartFireDeps, trigger: TriggerRecord): Promise<Principal> {
  const { owner, source, target, createdAt } = trigger
  if (source === 'code') return { subject: owner, scopes: ['admin:*'] }
  const session = target.sessionId === undefined ? undefined : await sessions.find(target.sessionId, EVERY_ROW)
  const wasAuthorized = session !== undefined && session.createdAt <= createdAt
  return { subject: owner, scopes: [wasAuthorized ? `sessions:write:${session.id}` : 'sessions:write:own'] }
}

/**
 * Like `startFire`, but starts nothing if the trigger has changed since it was read.
 *
 * @throws PerdureError the errors of `startFire`
 */
export async function startUnlessSuperseded(
  deps: StartFireDeps,
  request: StartFireRequest,
): Promise<'started' | 'superseded'> {
  const superseded = new Error('the trigger has changed')
  const writes = async (started: FireRecord) => {
    const current = await deps.triggers.find(request.trigger.id)
    if (current?.version !== request.trigger.version) throw superseded
    return request.writes(started)
  }
  try {
    await startFire(deps, { ...request, writes })
    return 'started'
  } catch (error) {
    if (error === superseded) return 'superseded'
    throw error
  }
}

/** The consequence of a rejected start: the fire is retried later or gets a final status. */
export type Refusal =
  | { readonly kind: 'later' }
  | { readonly kind: 'final'; readonly status: 'skipped' | 'failed'; readonly reason: string }

/** A later fire may start its run. The quota of a day would keep a fire waiting until the next day. */
const SKIPPED_CODES: ReadonlySet<string> = new Set(['agent-busy', 'quota-exceeded'])

const RETRIED_CODES: ReadonlySet<string> = new Set(['queue-full', 'server-draining'])

/** @throws the error itself if a storage fault, rather than a rejection of the start, caused it */
export function refusalOf(error: unknown): Refusal {
  if (!isRefusal(error)) return { kind: 'final', status: 'failed', reason: `run-failed: ${messageOf(error)}` }
  if (isStorageError(error)) throw error
  if (RETRIED_CODES.has(error.code)) return { kind: 'later' }
  const status = SKIPPED_CODES.has(error.code) ? 'skipped' : 'failed'
  return { kind: 'final', status, reason: `${error.code}: ${error.message}` }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
