import {
  AppError,
  type Clock,
  type IdGenerator,
  NO_USAGE,
  plusMs,
  type RunBudget,
  type RunRecord,
  toJsonText,
} from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'
import type { RunTarget } from '../targets/run-target.ts'
import { smaller, smallerBudget } from './smaller-budget.ts'

export interface NewRunDeps {
  readonly ids: IdGenerator
  readonly clock: Clock
  readonly maxResultBytes: number
}

export interface RunRequestBody {
  readonly input?: unknown
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  readonly budget?: RunBudget | undefined
  /** The version of the registration to execute; the default when missing. */
  readonly version?: string | undefined
  /** For workflows: the thread to continue; a new thread when missing. */
  readonly threadId?: string | undefined
}

interface NewRunRequest {
  readonly body: RunRequestBody
  readonly principal: { readonly subject: string }
  readonly origin?: { readonly triggerId: string }
  readonly traceparent?: string | undefined
}

/** The record of the run that a request asks for. @throws AppError `body-too-large` */
export function newRun(
  { ids, clock, maxResultBytes }: NewRunDeps,
  { body, principal, origin, traceparent }: NewRunRequest,
  { target, input }: { readonly target: RunTarget; readonly input: unknown },
): RunRecord {
  const text = toJsonText(input)
  if (isLongerThan(text, maxResultBytes)) throw new AppError('body-too-large', { hint: 'raise runs.maxResultBytes' })
  const budget = smallerBudget(body.budget, target.budget)
  const { wallClockMs } = budget ?? {}
  const createdAt = clock.now()
  return {
    id: ids.newId('run'),
    kind: target.kind,
    targetId: target.id,
    version: target.version,
    threadId: target.kind === 'workflow' ? (body.threadId ?? ids.newId('thread')) : undefined,
    sessionId: body.sessionId,
    owner: principal.subject,
    userId: body.userId,
    status: 'queued',
    input: text,
    usage: NO_USAGE,
    attempt: 1,
    timeoutMs: smaller(body.timeoutMs, target.timeoutMs),
    budget,
    deadlineAt: wallClockMs === undefined ? undefined : plusMs(createdAt, wallClockMs),
    depth: 0,
    triggerId: origin?.triggerId,
    traceparent,
    metadata: body.metadata ?? {},
    createdAt,
  }
}
