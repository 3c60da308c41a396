import {
  type ApprovalStore,
  type Clock,
  type Digest,
  fromJsonText,
  type IdGenerator,
  type Logger,
  type Nesting,
  noMeter,
  noSpan,
  type RunKind,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type StepRecord,
  type StepStore,
  type Timers,
  type YieldTurn,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import type { CallScope } from '../durable/call-scope.ts'
import type { Journal } from '../durable/journal.ts'
import { createLedger } from '../durable/ledger.ts'
import { readRecordedCalls } from '../durable/recorded-calls.ts'
import { withResult } from '../durable/recorded-result.ts'
import type { ResultFiles } from '../durable/result-files.ts'
import type { Budget } from '../durable/run-budget.ts'
import { createRunMeter } from '../durable/run-meter.ts'
import { budgetError } from '../runs/budget-error.ts'
import { eachRun } from '../runs/each-run.ts'
import type { Divergence, ParkReason } from '../runs/parked.ts'
import { awaitsResume, readSuspension } from '../runs/stored-suspension.ts'
import { textOfThrown } from '../runs/thrown-value.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { CreateRunServices } from '../targets/run-services.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { createCallChild } from './child-call.ts'
import { createRunContext } from './create-run-context.ts'
import { isGenerator } from './emit-all.ts'
import { readResume } from './read-resume.ts'
import { takeRecorded } from './take-messages.ts'

export interface CheckRunsDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly clock: Clock
  readonly timers: Timers
  readonly yieldTurn: YieldTurn
  readonly logger: Logger
  readonly ids: IdGenerator
  readonly digest: Pick<Digest, 'sha256'>
  readonly nesting: Nesting
  readonly targets: RunTargets
  readonly services: CreateRunServices
  readonly maxResultBytes: number
  readonly resultFiles: ResultFiles
}

/** The outcome that the registered code predicts for an open run. */
export type RunForecast =
  | { readonly kind: 'continues' }
  | { readonly kind: 'parks'; readonly reason: ParkReason }
  /** The code throws although recorded calls remain. */
  | { readonly kind: 'fails'; readonly message: string }
  /** The agent or workflow is not registered. */
  | { readonly kind: 'unregistered' }
  /** The code waits for something that is not a durable call. */
  | { readonly kind: 'unknown' }

export interface CheckedRun {
  readonly runId: string
  readonly kind: RunKind
  readonly targetId: string
  readonly version: string | undefined
  readonly status: RunStatus
  readonly forecast: RunForecast
}

/** How long the code of one run may take to make its recorded calls. */
const LIMIT_MS = 5_000

/**
 * Replays the recorded calls of every open run against the registered code, one run after another. Nothing is written
 * and no durable call executes: the replay of a run ends at the first call that is not recorded.
 */
export async function* checkRuns(deps: CheckRunsDeps): AsyncGenerator<CheckedRun, void, void> {
  for await (const run of eachRun(deps.runs, { statuses: ACTIVE_RUN_STATUSES })) {
    const { id: runId, kind, targetId, version, status } = run
    yield { runId, kind, targetId, version, status, forecast: await forecastOf(deps, run) }
  }
}

async function forecastOf(deps: CheckRunsDeps, run: RunRecord): Promise<RunForecast> {
  const target = deps.targets.ofRun(run)
  if (target === undefined) {
    return run.version === undefined ? { kind: 'unregistered' } : { kind: 'parks', reason: { version: run.version } }
  }
  // The code of a run that returned `ctx.suspend(…)` continues behind its recorded calls.
  if (awaitsResume(run)) return { kind: 'continues' }
  const recorded = (await readRecordedCalls(deps, run.id)).map(withoutExecution)
  return recorded.length === 0 ? { kind: 'continues' } : replay(deps, run, { target, recorded })
}

/** A step that was executing is not executed by a replay, so it counts as a wait. */
const withoutExecution = (step: StepRecord): StepRecord =>
  step.status === 'started' ? { ...step, status: 'waiting' } : step

interface Replayed {
  readonly target: RunTarget
  readonly recorded: readonly StepRecord[]
}

async function replay(deps: CheckRunsDeps, run: RunRecord, { target, recorded }: Replayed): Promise<RunForecast> {
  const { timers, yieldTurn: nextTurn } = deps
  const controller = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<RunForecast>()
  const parks = (reason: Divergence) => end({ kind: 'parks', reason })
  const suspension = readSuspension(run)
  const ledger = createLedger({
    ...{ recorded, throughSeq: suspension?.throughSeq ?? 0, timers, nextTurn },
    passedVersions: suspension?.passedVersions,
    readEnded: async () => ({ items: [], hasMore: false }),
    find: async (seq) => recorded.find((step) => step.seq === seq),
    readResult: (step) => withResult(deps, step),
    onDiverged: parks,
  })
  const pastRecord = () => {
    end({ kind: 'continues' })
    return new Promise<never>(() => undefined)
  }
  const scope = scopeOf(deps, run, { ledger, signal: controller.signal, pastRecord })
  const resume = suspension === undefined ? undefined : await readResume(deps, run, suspension)
  const callChild = createCallChild({ targets: deps.targets, relaunch: () => undefined })
  const context = createRunContext(scope, {
    logger: SILENT,
    capture: undefined,
    resume,
    callChild,
    services: deps.services,
    takeMessages: takeRecorded,
  })
  const cancel = timers.after(LIMIT_MS, () => end({ kind: 'unknown' }))
  const call = async () => {
    try {
      await callCode(target, fromJsonText(run.input), context)
      const divergence = await ledger.finish()
      if (divergence === undefined) end({ kind: 'continues' })
      else parks(divergence)
    } catch (thrown) {
      end(ledger.isReplaying() ? { kind: 'fails', message: textOfThrown(thrown) } : { kind: 'continues' })
    }
  }
  void call()
  void ledger.whenBlocked().then(() => end({ kind: 'continues' }))
  const forecast = await ended
  cancel()
  controller.abort('shutdown')
  return forecast
}

async function callCode(target: RunTarget, input: unknown, context: RunContext): Promise<void> {
  const started = target.call(input, context)
  if (!isGenerator(started)) return void (await started)
  for (let next = await started.next(); next.done !== true; ) next = await started.next()
}

const ignore = () => undefined
const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

interface ReplayParts extends Pick<CallScope, 'ledger' | 'signal'> {
  /** Called when the code does something that is not recorded. */
  readonly pastRecord: () => Promise<never>
}

function scopeOf(deps: CheckRunsDeps, run: RunRecord, { ledger, signal, pastRecord }: ReplayParts): CallScope {
  const { clock, timers, ids, digest, nesting, maxResultBytes, resultFiles } = deps
  const journal: Journal = {
    emit: pastRecord,
    check: ignore,
    record: pastRecord,
    recordAlone: pastRecord,
    flush: async () => undefined,
    close: async () => ({ opening: [], events: [], settle: ignore }),
    isClosed: () => false,
    isIdle: () => true,
    opening: () => [],
  }
  const budget: Budget = {
    takeToolCall: () => ({ writes: [], confirm: ignore, cancel: ignore }),
    add: pastRecord,
    charge: () => ({ writes: [], events: [], recorded: pastRecord }),
    checkLeft: ignore,
    checkToolCall: () => undefined,
    checkChild: ignore,
    exceeded: () => [],
    announceToolCall: () => undefined,
    raise: ignore,
    refuse: (runId) => {
      throw budgetError(runId)
    },
    isSpent: false,
    used: () => run.usage,
  }
  const runMeter = createRunMeter(noMeter, () => true)
  return {
    ...{ run, journal, ledger, signal, span: noSpan, nesting, clock, timers, ids, digest, budget, runMeter },
    ...{
      maxResultBytes,
      resultFiles,
      ancestors: [],
      toolCallIds: new Set<string>(),
      budgetRequest: { pending: undefined },
    },
    requireTimers: ignore,
    onDue: ignore,
  }
}
