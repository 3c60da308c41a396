import {
  type ApprovalStore,
  type Clock,
  type Digest,
  fromJsonText,
  type IdGenerator,
  type JsonText,
  type Logger,
  type Nesting,
  noMeter,
  noSpan,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  type Timers,
  type YieldTurn,
} from '@perdure/ports'
import type { CallScope } from '../../durable/call-scope.ts'
import type { Journal } from '../../durable/journal.ts'
import { createLedger } from '../../durable/ledger.ts'
import { withResult } from '../../durable/recorded-result.ts'
import type { ResultFiles } from '../../durable/result-files.ts'
import type { Budget } from '../../durable/usage/run-budget.ts'
import { createRunMeter } from '../../durable/usage/run-meter.ts'
import { budgetError } from '../../runs/budget-error.ts'
import type { Divergence, ParkReason } from '../../runs/parked.ts'
import { readSuspension } from '../../runs/stored-suspension.ts'
import { textOfThrown } from '../../runs/thrown-value.ts'
import { checkOutput } from '../../targets/check-output.ts'
import type { RunContext } from '../../targets/run-context.ts'
import type { CreateRunServices } from '../../targets/run-services.ts'
import type { RunTarget, RunTargets } from '../../targets/run-target.ts'
import { checkedResult } from '../checked-result.ts'
import { createCallChild } from '../child-call.ts'
import { createRunContext } from '../create-run-context.ts'
import { createShow } from '../create-show.ts'
import { isGenerator } from '../emit-all.ts'
import { readResume } from '../read-resume.ts'
import { createCallStart } from '../start-call.ts'
import { takeRecorded } from '../take-messages.ts'

export interface ReplayCallsDeps {
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

/** How long the code of one run may take to make its recorded calls. */
const LIMIT_MS = 5_000

/** How the code of a run behaves when its recorded calls are replayed. */
export type ReplayEnd =
  | RunForecast
  /** The code of an ended run makes a call behind its recorded ones. */
  | { readonly kind: 'more' }
  /** The code of an ended run waits for something that was not resolved. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'completed'; readonly result: JsonText }
  /** The code throws behind the recorded calls. */
  | { readonly kind: 'threw'; readonly message: string }

export interface ReplayRequest {
  readonly target: RunTarget
  readonly recorded: readonly StepRecord[]
  /** The run has ended: what the code shows is dropped, and its end is returned. */
  readonly isEnded: boolean
  readonly onReplayed?: CallScope['onReplayed']
}

/** Replays the recorded calls against the code. Nothing is written, and the replay ends at the first call that is not recorded. */
export async function replayCalls(deps: ReplayCallsDeps, run: RunRecord, request: ReplayRequest): Promise<ReplayEnd> {
  const { target, recorded, isEnded, onReplayed } = request
  const { timers, yieldTurn: nextTurn } = deps
  const controller = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<ReplayEnd>()
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
    end({ kind: isEnded ? 'more' : 'continues' })
    return new Promise<never>(() => undefined)
  }
  const scope = scopeOf(deps, run, { ledger, signal: controller.signal, pastRecord, isEnded, onReplayed })
  const resume = suspension === undefined ? undefined : await readResume(deps, run, suspension)
  const children = { ...deps, relaunch: () => undefined }
  const context = createRunContext(scope, {
    logger: SILENT,
    capture: undefined,
    resume,
    childCalls: { invoke: createCallChild(children), start: createCallStart(children) },
    services: deps.services,
    takeMessages: takeRecorded,
  })
  const cancel = timers.after(LIMIT_MS, () => end({ kind: 'unknown' }))
  const call = async () => {
    try {
      end(await endOfCode({ deps, target, ledger, isEnded }, context, scope))
    } catch (thrown) {
      end(thrownBy(thrown, { isReplaying: ledger.isReplaying(), isEnded }))
    }
  }
  void call()
  void ledger.whenBlocked().then(() => end({ kind: isEnded ? 'waits' : 'continues' }))
  const forecast = await ended
  cancel()
  controller.abort('shutdown')
  return forecast
}

interface Code extends Pick<ReplayRequest, 'target' | 'isEnded'> {
  readonly deps: ReplayCallsDeps
  readonly ledger: CallScope['ledger']
}

async function endOfCode(code: Code, context: RunContext, scope: CallScope): Promise<ReplayEnd> {
  const { deps, target, ledger, isEnded } = code
  const returned = await callCode(target, fromJsonText(scope.run.input), context)
  const result = isEnded ? await createShow(scope, context.emit).returned(returned) : undefined
  const divergence = await ledger.finish()
  if (divergence !== undefined) return { kind: 'parks', reason: divergence }
  if (!isEnded) return { kind: 'continues' }
  const { output: schema } = target
  const output = schema === undefined ? result : await checkOutput(schema, result)
  return { kind: 'completed', result: checkedResult(output, deps.maxResultBytes) }
}

function thrownBy(
  thrown: unknown,
  { isReplaying, isEnded }: { readonly isReplaying: boolean; readonly isEnded: boolean },
): ReplayEnd {
  const message = textOfThrown(thrown)
  if (isReplaying) return { kind: 'fails', message }
  return isEnded ? { kind: 'threw', message } : { kind: 'continues' }
}

async function callCode(target: RunTarget, input: unknown, context: RunContext): Promise<unknown> {
  const started = target.call(input, context)
  if (!isGenerator(started)) return started
  let next = await started.next()
  while (next.done !== true) next = await started.next()
  return next.value
}

const ignore = () => undefined
const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

interface ReplayParts extends Pick<CallScope, 'ledger' | 'signal' | 'onReplayed'> {
  readonly isEnded: boolean
  /** Called when the code does something that is not recorded. */
  readonly pastRecord: () => Promise<never>
}

function scopeOf(deps: ReplayCallsDeps, run: RunRecord, parts: ReplayParts): CallScope {
  const { ledger, signal, pastRecord, isEnded, onReplayed } = parts
  const { clock, timers, ids, digest, nesting, maxResultBytes, resultFiles } = deps
  const journal: Journal = {
    emit: isEnded ? async () => undefined : pastRecord,
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
    add: isEnded ? async () => undefined : pastRecord,
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
    ...{ requireTimers: ignore, warn: ignore },
    onReplayed,
    onDue: ignore,
  }
}
