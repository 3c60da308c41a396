import {
  AppError,
  type EpochMs,
  EVERY_ROW,
  type FireRecord,
  fromJsonText,
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
  /** What is written with the run, given the fire as started. @throws what keeps it from being started */
  readonly writes: (started: FireRecord) => Promise<readonly Write[]>
  /** Of a fire by hand; a fire's own key when missing. */
  readonly key?: KeyedRequest | undefined
  readonly reply?: ((run: RunRecord) => Reply) | undefined
  /** Of the request that fires it by hand. */
  readonly traceparent?: string | undefined
  readonly at: EpochMs
}

/**
 * Starts the run of a fire. The fire, its trigger, the run and their events are one commit.
 *
 * @throws AppError as `StartRun`, and what `writes` throws
 */
export async function startFire(deps: StartFireDeps, request: StartFireRequest): Promise<Reply> {
  const { tracer } = deps
  const { trigger, fire, traceparent } = request
  if (!tracer.isEnabled) return start(deps, request)
  const span = tracer.start(
    'trigger.fire',
    { 'perdure.trigger.id': trigger.id, 'perdure.fire.id': fire.id },
    traceparent,
  )
  try {
    const reply = await start(deps, { ...request, traceparent: span.traceparent })
    span.end()
    return reply
  } catch (error) {
    failSpan(span, error)
    throw error
  }
}

async function start(deps: StartFireDeps, request: StartFireRequest): Promise<Reply> {
  const { trigger, fire, writes, key, reply, at, traceparent } = request
  const { target } = trigger
  const input = target.input ?? fire.input
  const metadata: FireMetadata = { fireId: fire.id, scheduledAt: toIso(fire.scheduledAt) }
  return deps.startRun({
    target: { kind: target.kind, id: target.id },
    body: {
      input: input === undefined ? undefined : fromJsonText(input),
      sessionId: target.sessionId,
      metadata: { ...metadata },
    },
    principal: await principalOf(deps, trigger),
    key: key ?? { id: `fire:${fire.id}`, fingerprint: fire.id },
    traceparent,
    answer: 'accepted',
    origin: {
      triggerId: trigger.id,
      writes: (run) => writes({ ...fire, status: 'started', firedAt: at, runId: run.id }),
      ...(reply === undefined ? {} : { reply }),
    },
  })
}

/**
 * On whose behalf a trigger acts: code of the configuration may do everything. Who made one over the API was asked then
 * whether the session is theirs to use; nobody asked about one that was made since, under the same id.
 */
async function principalOf({ sessions }: StartFireDeps, trigger: TriggerRecord): Promise<Principal> {
  const { owner, source, target, createdAt } = trigger
  if (source === 'code') return { subject: owner, scopes: ['admin:*'] }
  const session = target.sessionId === undefined ? undefined : await sessions.find(target.sessionId, EVERY_ROW)
  const wasAsked = session !== undefined && session.createdAt <= createdAt
  return { subject: owner, scopes: wasAsked ? [`sessions:write:${session.id}`] : [] }
}

/**
 * As `startFire`, unless the trigger has changed since it was read: then nothing is started.
 *
 * @throws AppError as `startFire`
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

/** What a refused start means for the fire. */
export type Refusal =
  | { readonly kind: 'later' }
  | { readonly kind: 'over'; readonly status: 'skipped' | 'failed'; readonly reason: string }

const LATER: ReadonlySet<string> = new Set(['queue-full', 'server-draining'])

/** @throws what is no refusal but a fault of the storage */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof AppError)) return { kind: 'over', status: 'failed', reason: `run-failed: ${textOf(error)}` }
  if (isStorageError(error)) throw error
  if (LATER.has(error.id)) return { kind: 'later' }
  const status = error.id === 'agent-busy' ? 'skipped' : 'failed'
  return { kind: 'over', status, reason: `${error.id}: ${error.message}` }
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
