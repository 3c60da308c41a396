import { type CommitSignal, type EpochMs, hasRightClock, noNesting, noTracer, type RunRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { createDecideApprovals } from './approvals/decide-approvals.ts'
import { createExpireApproval } from './approvals/expire-approval.ts'
import { createReadApprovals } from './approvals/read-approvals.ts'
import { createRemindApproval } from './approvals/remind-approval.ts'
import { createResolveApproval } from './approvals/resolve-approval.ts'
import { createKeyedMutex } from './concurrency/mutex.ts'
import { createEventCollector } from './durable/event-collector.ts'
import { canHoldTimers, createRequireTimers } from './durable/require-timers.ts'
import { createResolveWait } from './durable/resolve-wait.ts'
import { noResultFiles } from './durable/result-files.ts'
import { createRunMeter } from './durable/usage/run-meter.ts'
import { createUsageAccounts } from './durable/usage/usage-accounts.ts'
import { createWakeRun } from './durable/wake-run.ts'
import { createAbortAgent } from './engine/abort-agent.ts'
import { createAbortRun } from './engine/abort-run.ts'
import { type CallChild, createCallChild } from './engine/child-call.ts'
import { createClaimRuns } from './engine/claim-runs.ts'
import type { ContextParts } from './engine/create-run-context.ts'
import { releaseRuns, waitForRuns } from './engine/drain-runs.ts'
import type { EndRunDeps } from './engine/end-run.ts'
import type { EngineDeps } from './engine/engine-deps.ts'
import { createExpireRun } from './engine/expire-run.ts'
import { createFollowUp, resumeFollowUps } from './engine/follow-up.ts'
import { createForeignChanges } from './engine/foreign-changes.ts'
import { createForkRun } from './engine/forks/fork-run.ts'
import { createAdmission } from './engine/lanes/admission.ts'
import { restoreLanes } from './engine/lanes/restore-lanes.ts'
import { clusterTargets, createRunLines } from './engine/lanes/run-line.ts'
import { createOutcomeWatch } from './engine/outcome-watch.ts'
import { requeueAllParked } from './engine/park-run.ts'
import { createEditMessage, createWithdrawMessage } from './engine/queued-message.ts'
import { createRecoverDeparted } from './engine/recover-departed.ts'
import { lineUpRuns, recoverRuns } from './engine/recover-runs.ts'
import { checkRuns } from './engine/rehearsal/check-runs.ts'
import { type ReplayFilter, replayRuns } from './engine/rehearsal/replay-runs.ts'
import { createReportEnd } from './engine/report-end.ts'
import { createResumeRun } from './engine/resume-run.ts'
import { createResumeSuspended } from './engine/resume-suspended.ts'
import { executingRunIds, readRunLoad } from './engine/run-load.ts'
import { logOutcome } from './engine/run-log.ts'
import { createRunner } from './engine/runner.ts'
import { createSettleOutcome } from './engine/settle-outcome.ts'
import { type CallStart, createCallStart } from './engine/start-call.ts'
import { createStartRun } from './engine/start-run.ts'
import { createSupersede, type Supersede } from './engine/supersede.ts'
import { createTakeMessages } from './engine/take-messages.ts'
import { createThreadClaims } from './engine/thread-claims.ts'
import { createTimerDriver } from './engine/timer-driver.ts'
import { createEmitter } from './lifecycle/emitter.ts'
import { createLateBound } from './lifecycle/late-bound.ts'
import { createReplay } from './replay/replay.ts'
import { createReadRuns } from './runs/read-runs.ts'
import { createRunWaiters, type OutcomeInfo } from './runs/run-waiters.ts'
import type { ScoreWrites } from './scoring/score-writes.ts'
import { createKeepCase } from './sessions/keep-case.ts'
import { createDescribeSchema } from './targets/describe-schema.ts'
import { createReadAgents } from './targets/read-agents.ts'
import { createReadWorkflows } from './targets/read-workflows.ts'
import { targetsOf } from './targets/target-registry.ts'
import { fireEndWrites } from './triggers/fire-end.ts'
import type { FireEventTriggers } from './triggers/fire-event-triggers.ts'
import { createDeleteThread } from './workflows/delete-thread.ts'
import { createDeliverEmissions } from './workflows/deliver-emissions.ts'
import { createEmitEvent } from './workflows/emit-event.ts'
import { type ForkRequest, forkThread } from './workflows/fork-thread.ts'
import { createPlanEvent, NO_FIRES } from './workflows/plan-event.ts'
import { createResumeWorkflow } from './workflows/resume-workflow.ts'
import { createWorkflowThreads } from './workflows/workflow-threads.ts'

export type Engine = ReturnType<typeof createEngine>

export interface EngineParts extends EngineDeps {
  /** Fires the triggers of a named event; when missing, an event only resumes the runs that wait for it. */
  readonly fireEventTriggers?: FireEventTriggers | undefined
  /** Further writes for the commit that ends a run; none when missing. */
  readonly scoreWrites?: ScoreWrites | undefined
}

/** Wires the run engine: the use cases for its callers, and the methods that start and stop it. */
export function createEngine(given: EngineParts) {
  const { limits, agents, workflows } = given
  const describeSchema = createDescribeSchema(given.convertSchema)
  const runWaiters = createRunWaiters()
  const cluster = given.cluster?.executor === undefined ? undefined : given.cluster
  const admission = createAdmission(limits, { ...given, mayStart: cluster && (() => hasRightClock(cluster)) })
  const targets = targetsOf(agents, workflows)
  const runMeter = createRunMeter(given.meter, (kind, id) => targets.find(kind, id) !== undefined)
  const holdsTimers = canHoldTimers(given)
  const requireTimers = createRequireTimers(holdsTimers)
  const tracer = given.tracer ?? noTracer
  const nesting = given.nesting ?? noNesting
  const ownTargets = () => clusterTargets([agents, workflows])
  const lines = cluster && createRunLines(cluster, { targets: ownTargets, now: given.clock.now })
  const dueTimes = createEmitter<number>()
  const startTimes = createEmitter<EpochMs>()
  /** A run was queued by another process. */
  const queued = createEmitter()
  /** Something outside of its execution has changed or ended the run of this id. */
  const changedOutside = createEmitter<string>()
  const endWrites: EndRunDeps['endWrites'] = (ended, at) => [
    ...fireEndWrites(ended, at),
    ...(given.scoreWrites?.(ended, at) ?? []),
  ]
  const deps = {
    ...given,
    ...limits,
    ...{ tracer, nesting, runWaiters, targets, runMeter, requireTimers },
    collector: createEventCollector(given),
    ...{ onDue: dueTimes.emit, onStartTime: startTimes.emit, onQueued: queued.emit },
    resultFiles: given.resultFiles ?? noResultFiles,
    endWrites,
    lines,
    captureLogs: given.captureLogs ?? true,
    onDivergence: given.onDivergence ?? 'park',
    fireEventTriggers: given.fireEventTriggers ?? NO_FIRES,
  }

  const usageAccounts = createUsageAccounts(deps)
  const supersede = createLateBound<Supersede>('supersede')
  const callChild = createLateBound<CallChild>('callChild')
  const callStart = createLateBound<CallStart>('callStart')
  const takeMessages = createLateBound<ContextParts['takeMessages']>('takeMessages')
  const runner = createRunner({
    ...deps,
    ...{ admission, usageAccounts },
    childCalls: { invoke: callChild.call, start: callStart.call },
    takeMessages: takeMessages.call,
    supersede: supersede.call,
    canRetry: holdsTimers,
    onChangedOutside: changedOutside.emit,
  })
  const { relaunch, notify } = runner
  callChild.bind(createCallChild({ ...deps, relaunch }))
  callStart.bind(createCallStart({ ...deps, relaunch }))
  takeMessages.bind(createTakeMessages({ ...deps, runner }))
  const settleOutcome = createSettleOutcome(deps)
  const outcomeWatch = createOutcomeWatch({ ...deps, runner, settleOutcome })
  changedOutside.on((runId) => void outcomeWatch.check(runId))
  const foreignChanges = createForeignChanges({ ...deps, runner, outcomeWatch, settleOutcome })
  const runMutex = createKeyedMutex()
  const wakeRun = createWakeRun({ relaunch, notify })
  const deliverEmissions = createDeliverEmissions({ ...deps, wakeRun })
  const planEvent = createPlanEvent({ ...deps, wakeRun, deliverEmissions })
  const resolveWait = createResolveWait({ ...deps, wakeRun })
  const resumeSuspended = createResumeSuspended({ ...deps, runMutex, wakeRun })
  const decideApprovals = createDecideApprovals({ ...deps, runMutex, wakeRun })
  const resolveApproval = createResolveApproval({ ...deps, decideApprovals })
  supersede.bind(createSupersede({ ...deps, resolveApproval }))
  const abortRun = createAbortRun({ ...deps, runner })
  const editMessage = createEditMessage({ ...deps, runner })
  const withdrawMessage = createWithdrawMessage({ ...deps, runner })
  const abortAgent = createAbortAgent({ ...deps, abortRun })
  const timerDriver = createTimerDriver({
    ...deps,
    resolveWait,
    expireApproval: createExpireApproval({ ...deps, decideApprovals }),
    remindApproval: createRemindApproval(deps),
    launch: (run) => {
      if (!runner.isLive(run.id, run.attempt)) runner.relaunch(run)
    },
    expire: createExpireRun({ ...deps, runner }),
  })
  dueTimes.on(timerDriver.arm)
  startTimes.on(timerDriver.armStart)
  const threadClaims = createThreadClaims()
  const startRun = createStartRun({ ...deps, runner, abortRun, threadClaims })
  const forkRun = createForkRun({ ...deps, startRun, relaunch })
  const readRuns = createReadRuns(deps)
  const resumeRun = createResumeRun({ ...deps, decideApprovals, resumeSuspended, relaunch })
  const threads = createWorkflowThreads(deps)
  const reportEnd = createReportEnd({ ...deps, abortRun })
  const followUpDeps = { ...deps, resolveWait, abortRun, reportEnd }
  const followUp = createFollowUp({ ...followUpDeps, relaunch })
  runWaiters.observe((run, info) => {
    logOutcome(deps.logger, run)
    if (isTerminal(run.status)) {
      runMeter.ended(run)
      runner.behindTurns.release(run.id)
    }
    if (run.status === 'suspended') void settleOutcome.onSuspended(run, info.detail?.waitingFor)
    followUp(run, info).catch((error: unknown) =>
      deps.logger.error('could not apply the follow-up of an ended run', error, { runId: run.id }),
    )
  })

  const claimRuns = cluster && createClaimRuns({ ...deps, cluster, admission, runner, clusterTargets: ownTargets })
  queued.on(() => claimRuns?.wake())
  const finishLeftovers = async () => {
    await resumeFollowUps(followUpDeps)
    await deliverEmissions()
  }
  const recoverDeparted = cluster && createRecoverDeparted({ ...deps, cluster, finishLeftovers })

  return {
    ...{
      startRun,
      forkRun,
      abortRun,
      abortAgent,
      editMessage,
      withdrawMessage,
      resumeRun,
      resolveApproval,
      readRuns,
      threads,
    },
    settleKeys: settleOutcome.settleKeys,
    readAgents: createReadAgents({ agents, describeSchema, countsOf: runner.countsOf }),
    readApprovals: createReadApprovals(deps),
    readWorkflows: createReadWorkflows({ workflows, describeSchema }),
    resumeWorkflow: createResumeWorkflow({ ...deps, threads, resolveWait, resumeSuspended }),
    deleteThread: createDeleteThread({ ...deps, threads, abortRun, threadClaims }),
    planEvent,
    emitEvent: createEmitEvent({ ...deps, planEvent }),
    replay: createReplay(deps),
    keepCase: createKeepCase(deps),
    /** Applies what other processes commit to the runs of this process. */
    foreignChanges,
    /** Passes on what another process has committed for the timers of this process. */
    onForeignTimer(signal: Extract<CommitSignal, { readonly at: EpochMs }>): void {
      if (signal.type === 'start') startTimes.emit(signal.at)
      else dueTimes.emit(signal.at)
    },
    /** Calls the listener for every run that ends or suspends in this process. */
    observeRuns: (listener: (run: RunRecord, info: OutcomeInfo) => void) => runWaiters.observe(listener),
    /** Reads the counts from memory, not from the storage. */
    readLoad: () => readRunLoad(runner),
    executingRunIds: () => executingRunIds(runner),
    /** Replays all open runs against the registered code, without executing or writing anything. */
    checkRuns: () => checkRuns(deps),
    /** Replays ended runs against the registered code, without executing or writing anything. */
    replayRuns: (filter: ReplayFilter) => replayRuns(deps, filter),
    forkThread: (request: ForkRequest) => forkThread({ ...deps, threads, relaunch }, request),
    /** Recovers the runs of the previous process. Call it before the listener binds and before `start`. */
    async recover() {
      const { executor } = given
      // In a cluster, a run without an executor was executed by a process that was alone on the storage.
      const isLost = (run: Pick<RunRecord, 'executor'>) => (run.executor ?? executor) === executor
      const { interrupted, requeued } = await recoverRuns(deps, executor === undefined ? {} : { isLost })
      await resumeFollowUps(followUpDeps)
      return { interrupted, requeued }
    },
    /** Starts executing queued runs and firing durable timers. */
    async start() {
      for (const owner of await deps.runs.owners(2)) admission.addSubject(owner)
      await restoreLanes(deps, admission)
      if (cluster === undefined) await admission.holdDuring(() => lineUpRuns({ ...deps, runner }))
      await requeueAllParked({ ...deps, relaunch })
      await deliverEmissions()
      // Without another process on the storage, every change of a run is known here; a timer would keep the process alive.
      if (given.isStorageShared === true) outcomeWatch.start()
      claimRuns?.start()
      recoverDeparted?.start()
      if (holdsTimers) timerDriver.start()
      else given.logger.warn('durable timers are off: the storage cannot list due waits')
    },
    /** Stops starting runs and waits for those that execute. Resolves with false if some still do after `timeoutMs`. */
    async drain(timeoutMs: number) {
      admission.close()
      await Promise.all([timerDriver.stop(), claimRuns?.stop(), recoverDeparted?.stop()])
      const warn = (error: unknown) => deps.logger.error('could not release the duties of this server', error)
      await cluster?.retire().catch(warn)
      return waitForRuns({ ...deps, runner }, timeoutMs)
    },
    /** Queues or aborts the runs that still execute. */
    release() {
      void outcomeWatch.stop()
      return releaseRuns({ ...deps, runner })
    },
  }
}
