import { EXIT_CODES } from '../exit-codes.ts'
import type { Interruption, Interruptions } from '../terminal.ts'
import type { DevReport, DevSetup, Refusal, ServedFacts } from './dev-messages.ts'
import type { ServerProcess, ServerProcessEvents } from './server-process.ts'

/** A reason to reload the configuration: the changed files, or none if the user pressed a key. */
export interface Restart {
  readonly files: readonly string[]
  readonly requestedAtMs: number // monotonic
}

export interface SupervisionView {
  onListening(facts: ServedFacts, restart: Restart | undefined): void
  /** `isServing`: the previous configuration still serves. */
  onRefused(refusal: Refusal, isServing: boolean): void
  /** The server exited on its own. */
  onEnded(exitCode: number): void
  onMinted(token: string): void
  onFailed(message: string): void
  onImported(file: string, version: string): void
}

export interface SuperviseDeps {
  spawn(events: ServerProcessEvents): ServerProcess
  /** Setup of the next process. */
  setup(): DevSetup
  readonly interruptions: Interruptions
  readonly view: SupervisionView
  /** Whether to wait for the next change when the server exits, instead of ending. */
  readonly restartsAfterExit: boolean
  after(ms: number, callback: () => void): void
}

export interface Supervision {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  restart(restart: Restart): void
  mint(): void
  /** Acts like a signal. */
  interrupt(signal: 'SIGINT' | 'SIGTERM'): void
}

/** How long a replaced server may take to stop before it is killed. Committed data is safe. */
const REPLACE_MS = 3_000
const FORCED_STOP_MS = 2_500
/** After this time, a stream of changes no longer discards the candidate, so that a slow machine still restarts. */
const MAX_POSTPONE_MS = 3_000

type Signal = Extract<Interruption, { type: 'signal' }>['signal']
/** `waiting`: validated, but the previous server has not ended yet. */
type Phase = 'preparing' | 'waiting' | 'starting' | 'serving' | 'retiring'

interface Served {
  readonly process: ServerProcess
  readonly restart: Restart | undefined
  phase: Phase
}

/**
 * Keeps one server running, each configuration in its own process. A new configuration is validated while the current
 * server runs. If it is valid, the current server stops and releases its storage lease, and the new one starts.
 */
export function supervise(deps: SuperviseDeps): Supervision {
  const { view } = deps
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>()
  const signals: Signal[] = []
  let current: Served | undefined // serving, or retiring for the candidate
  let candidate: Served | undefined
  let postponed: Restart | undefined // requested while the candidate was starting
  let unservedSinceMs: number | undefined // time of the first change not served yet

  const spawnCandidate = (restart?: Restart) => {
    candidate?.process.kill()
    const events: ServerProcessEvents = {
      onReport: (report) => onReport(served, report),
      onEnd: (exitCode) => onEnd(served, exitCode),
    }
    const served: Served = { process: deps.spawn(events), restart, phase: 'preparing' }
    candidate = served
    served.process.order({ type: 'prepare', setup: deps.setup() })
  }

  const onReport = (served: Served, report: DevReport) => {
    if (report.type === 'imported') view.onImported(report.file, report.version)
    else if (report.type === 'minted') view.onMinted(report.token)
    else if (report.type === 'failed') view.onFailed(report.message)
    else if (served === candidate) onProgress(served, report)
  }

  const onProgress = (served: Served, report: Extract<DevReport, { type: 'prepared' | 'listening' | 'refused' }>) => {
    if (report.type === 'refused') dropCandidate(report.refusal)
    else if (report.type === 'prepared') replaceCurrent(served)
    else {
      served.phase = 'serving'
      current = served
      candidate = undefined
      view.onListening(report.facts, served.restart)
      unservedSinceMs = undefined
      startPostponed()
    }
  }

  const replaceCurrent = (served: Served) => {
    if (current === undefined) {
      start(served)
      return
    }
    served.phase = 'waiting'
    if (current.phase === 'retiring') return
    const { process } = current
    current.phase = 'retiring'
    process.order({ type: 'replace' })
    deps.after(REPLACE_MS, process.kill)
  }

  const start = (served: Served) => {
    served.phase = 'starting'
    served.process.order({ type: 'start' })
  }

  const dropCandidate = (refusal: Refusal) => {
    const isFirst = candidate?.restart === undefined
    candidate = undefined
    unservedSinceMs = undefined
    view.onRefused(refusal, current?.phase === 'serving')
    if (isFirst || signals.length > 0) end(refusal.exitCode)
    else startPostponed()
  }

  const startPostponed = () => {
    const restart = postponed
    postponed = undefined
    if (restart === undefined || signals.length > 0) return
    unservedSinceMs = restart.requestedAtMs
    spawnCandidate(restart)
  }

  const onEnd = (served: Served, exitCode: number) => {
    if (served === candidate) onCandidateEnd(exitCode)
    else if (served === current) {
      current = undefined
      if (signals.length > 0) end(exitCode)
      else if (candidate?.phase === 'waiting') start(candidate)
      else if (served.phase !== 'retiring') onUnexpectedEnd(exitCode)
    }
  }

  const onCandidateEnd = (exitCode: number) => {
    if (signals.length > 0) end(exitCode)
    else {
      const message = `the server process exited with code ${exitCode} before it listened`
      const report = { error: 'start-failed', kind: 'start-failed', message }
      dropCandidate({ report, text: `error[start-failed]: ${message}\n`, exitCode: exitCode || EXIT_CODES.failed.code })
    }
  }

  const onUnexpectedEnd = (exitCode: number) => {
    if (candidate !== undefined) return
    if (deps.restartsAfterExit) view.onEnded(exitCode)
    else end(exitCode)
  }

  /** The first signal drains, the second stops the server within two seconds. */
  const interrupt = (signal: Signal) => {
    signals.push(signal)
    if (candidate !== undefined && candidate.phase !== 'starting') {
      candidate.process.kill()
      candidate = undefined
    }
    const stopping = candidate ?? current
    if (stopping === undefined) {
      end(EXIT_CODES.ok.code)
      return
    }
    stopping.process.order({ type: 'signal', signal })
    if (signals.length === 2) {
      deps.after(FORCED_STOP_MS, () => {
        stopping.process.kill()
        end(signal === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.failed.code)
      })
    }
  }

  const listen = async (): Promise<never> => {
    for (;;) {
      const interruption = await deps.interruptions.next()
      if (interruption.type === 'crash') throw interruption.error
      interrupt(interruption.signal)
    }
  }

  listen().catch(fail)
  spawnCandidate()
  return {
    ended,
    restart(restart) {
      if (signals.length > 0) return
      unservedSinceMs ??= restart.requestedAtMs
      const isOverdue = restart.requestedAtMs - unservedSinceMs >= MAX_POSTPONE_MS
      const isBusy =
        candidate !== undefined && (candidate.phase === 'starting' || candidate.restart === undefined || isOverdue)
      if (isBusy) postponed = restart
      else spawnCandidate(restart)
    },
    mint: () => current?.process.order({ type: 'mint' }),
    interrupt,
  }
}
