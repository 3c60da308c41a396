import {
  AppError,
  EVERY_ROW,
  type IdGenerator,
  NO_USAGE,
  type RunRecord,
  type SessionStore,
  type Timers,
  toJsonText,
  type Write,
} from '@berth/ports'
import { checkInput } from '../agents/check-input.ts'
import type { AgentRegistry, RegisteredAgent } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce, type Decision, toStoredResponse } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { isLongerThan } from '../json-members.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { Reply } from '../reply.ts'
import { sessionWrites } from '../sessions/session-writes.ts'
import type { AbortRun } from './abort-run.ts'
import type { Place } from './admission.ts'
import { lifecycleEvent } from './run-events.ts'
import { acceptedReply, outcomeReply } from './run-outcome.ts'
import type { Runner } from './runner.ts'
import type { Settlements } from './settlements.ts'

export interface StartRunDeps extends CommitOnceDeps {
  readonly agents: AgentRegistry
  readonly sessions: SessionStore
  readonly ids: IdGenerator
  readonly timers: Timers
  readonly runner: Runner
  readonly settlements: Settlements
  readonly phase: PhaseHolder
  readonly abortRun: AbortRun
  readonly basePath: string
  readonly maxResultBytes: number
}

export interface RunRequestBody {
  readonly input?: unknown
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
}

export interface StartRunRequest {
  readonly agentId: string
  readonly body: RunRequestBody
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
  readonly traceparent?: string | undefined
  /** `outcome` answers 200 once the run has come to one; `accepted` answers 202 once it is durable. */
  readonly answer: 'outcome' | 'accepted'
  /** With `outcome`: answers 202 when the run has not come to one by then. Milliseconds. */
  readonly waitMs?: number | undefined
}

/**
 * Starts a run of an agent. The run, its first events, its session and the record of the key are one commit.
 *
 * @throws AppError `agent-not-found`, `invalid-input`, `session-not-found`, `agent-busy`, `queue-full`,
 *   `server-draining`, `idempotency-conflict`, `idempotency-in-flight`
 */
export type StartRun = (request: StartRunRequest) => Promise<Reply>

interface Prepared {
  readonly run: RunRecord
  readonly agent: RegisteredAgent
  readonly place: Place
  readonly interrupts: string | undefined
}

export function createStartRun(deps: StartRunDeps): StartRun {
  const { agents, phase, settlements, runner } = deps

  return async (request) => {
    if (phase.current() !== 'ready') throw new AppError('server-draining', { retryAfterMs: 5_000 })
    const agent = agents.get(request.agentId)
    const input = await checkInput(agent, request.body.input)

    let prepared: Prepared | undefined
    const once = await commitOnce(deps, request.key, async () => {
      const run = newRun(deps, request, { agent, input })
      const session = await sessionWrites(deps, run, request.principal)
      prepared = enter(deps, agent, run)
      return decide(deps, request, { prepared, session })
    })
    if (once.kind === 'replayed' || prepared === undefined) return (once as { reply: Reply }).reply

    const { run, place, interrupts } = prepared
    const settled = request.answer === 'outcome' ? settlements.wait(run.id) : undefined
    runner.launch({ run, agent, place })
    if (interrupts !== undefined) await interrupt(deps, interrupts)
    return settled === undefined ? once.decision.reply : awaitOutcome(deps, request, { run, settled, place })
  }
}

function newRun(
  { ids, clock, maxResultBytes }: StartRunDeps,
  { body, principal, traceparent }: StartRunRequest,
  { agent, input }: { readonly agent: RegisteredAgent; readonly input: unknown },
): RunRecord {
  const text = toJsonText(input)
  if (isLongerThan(text, maxResultBytes)) throw new AppError('body-too-large', { hint: 'raise runs.maxResultBytes' })
  return {
    id: ids.newId('run'),
    kind: 'agent',
    targetId: agent.id,
    sessionId: body.sessionId,
    owner: principal.subject,
    userId: body.userId,
    status: 'queued',
    input: text,
    usage: NO_USAGE,
    attempt: 1,
    timeoutMs: shorter(body.timeoutMs, agent.timeoutMs),
    traceparent,
    metadata: body.metadata ?? {},
    createdAt: clock.now(),
  }
}

const shorter = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** Claims a place, which decides whether the run is born running or queued. */
function enter({ runner }: StartRunDeps, agent: RegisteredAgent, run: RunRecord): Prepared {
  const interrupts = agent.onBusy === 'interrupt' ? runner.holderOf(agent, run.sessionId) : undefined
  const place = runner.enter(agent, run)
  const born: RunRecord = place.isGranted() ? { ...run, status: 'running', startedAt: run.createdAt } : run
  return { run: born, agent, place, interrupts }
}

function decide(
  deps: StartRunDeps,
  { answer }: StartRunRequest,
  { prepared, session }: { readonly prepared: Prepared; readonly session: readonly Write[] },
): Decision {
  const { run, place } = prepared
  const position = place.position()
  const type = run.status === 'running' ? 'run.started' : 'run.queued'
  const event = lifecycleEvent(run, type, { at: run.createdAt, ...(position === undefined ? {} : { position }) })
  return {
    writes: [{ type: 'run.insert', run }, ...session, { type: 'event.append', events: [event] }],
    reply: acceptedReply(run, deps.basePath, position),
    runId: run.id,
    remember: answer === 'accepted',
    discard: place.leave,
  }
}

async function interrupt({ abortRun }: StartRunDeps, runId: string): Promise<void> {
  try {
    await abortRun({ runId, reason: 'interrupted by a newer run', visibility: EVERY_ROW })
  } catch (error) {
    const isOver = error instanceof AppError && (error.id === 'run-not-active' || error.id === 'run-not-found')
    if (!isOver) throw error
  }
}

interface Awaited {
  readonly run: RunRecord
  readonly settled: Promise<RunRecord>
  readonly place: Place
}

async function awaitOutcome(deps: StartRunDeps, request: StartRunRequest, awaited: Awaited): Promise<Reply> {
  const { settled, run, place } = awaited
  const { waitMs } = request
  if (waitMs === undefined) return outcomeReply(await settled, deps.basePath)

  const first = await Promise.race([settled, elapsed(deps.timers, waitMs, settled)])
  if (first !== 'elapsed') return outcomeReply(first, deps.basePath)
  const reply = acceptedReply(run, deps.basePath, place.position())
  if (request.key === undefined) return reply
  const response = toStoredResponse(reply)
  const outcome = await deps.unitOfWork.commit([{ type: 'idempotency.complete', runId: run.id, response }])
  const wasFirst = outcome.committed && outcome.counts[0] === 1
  return wasFirst ? reply : outcomeReply(await settled, deps.basePath)
}

/** `'elapsed'` after the delay; its timer is dropped when `settled` comes first. */
function elapsed(timers: Timers, delayMs: number, settled: Promise<unknown>): Promise<'elapsed'> {
  return new Promise((resolve) => {
    const cancel = timers.after(delayMs, () => resolve('elapsed'))
    settled.then(cancel, cancel)
  })
}
