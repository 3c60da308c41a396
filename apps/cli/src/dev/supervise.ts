import { EXIT_CODES } from '../exit-codes.ts'
import type { Interruption, Interruptions } from '../terminal.ts'
import type { DevReport, DevSetup, Refusal, ServedFacts } from './dev-messages.ts'
import type { ServerProcess, ServerProcessEvents } from './server-process.ts'

/** Why a configuration is read again: files that have changed, or none when somebody asked for it. */
export interface Restart {
  readonly files: readonly string[]
  readonly askedAtMs: number // monotonic
}

/** What the supervision tells whoever looks on. */
export interface SupervisionView {
  onListening(facts: ServedFacts, restart: Restart | undefined): void
  /** `isServing` when the configuration of before still serves. */
  onRefused(refusal: Refusal, isServing: boolean): void
  /** It ended without being told to. */
  onEnded(exitCode: number): void
  onMinted(token: string): void
  onFailed(message: string): void
  onImported(file: string, version: string): void
}

export interface SuperviseDeps {
  spawn(events: ServerProcessEvents): ServerProcess
  /** Of the next process. */
  setup(): DevSetup
  readonly interruptions: Interruptions
  readonly view: SupervisionView
  /** A server that has ended is started again by the next change. */
  readonly isRevivable: boolean
  after(ms: number, callback: () => void): void
}

export interface Supervision {
  /** Its exit code, once nothing is left to supervise. */
  readonly ended: Promise<number>
  restart(restart: Restart): void
  mint(): void
  /** As a signal would. */
  interrupt(signal: 'SIGINT' | 'SIGTERM'): void
}

/** What hangs is not waited for longer: what is committed is safe. */
const REPLACE_MS = 3_000
const FORCED_STOP_MS = 2_500
/** A machine that cannot keep up with the changes serves an older one meanwhile. */
const LONGEST_POSTPONED_MS = 3_000

type Signal = Extract<Interruption, { type: 'signal' }>['signal']
/** `waiting`: prepared, and the one before has not ended yet. */
type Phase = 'preparing' | 'waiting' | 'starting' | 'serving' | 'retiring'

interface Served {
  readonly process: ServerProcess
  readonly restart: Restart | undefined
  phase: Phase
}

/**
 * Keeps one server running, each configuration in a process of its own. A new one is read and checked beside the one that
 * serves, which makes room only for one that is sound: it stops, its lease of the storage ends with it, and the new one starts.
 */
export function supervise(deps: SuperviseDeps): Supervision {
  const { view } = deps
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>()
  const signals: Signal[] = []
  let current: Served | undefined // serving, or retiring for the candidate
  let candidate: Served | undefined
  let later: Restart | undefined // asked for while the candidate is left to start
  let unservedSinceMs: number | undefined // the first change that nothing has come of

  const begin = (restart?: Restart) => {
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
    if (report.type === 'refused') giveUp(report.refusal)
    else if (report.type === 'prepared') makeRoom(served)
    else {
      served.phase = 'serving'
      current = served
      candidate = undefined
      view.onListening(report.facts, served.restart)
      unservedSinceMs = undefined
      catchUp()
    }
  }

  const makeRoom = (served: Served) => {
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

  const giveUp = (refusal: Refusal) => {
    const isFirst = candidate?.restart === undefined
    candidate = undefined
    unservedSinceMs = undefined
    view.onRefused(refusal, current?.phase === 'serving')
    if (isFirst || signals.length > 0) end(refusal.exitCode)
    else catchUp()
  }

  const catchUp = () => {
    const asked = later
    later = undefined
    if (asked === undefined || signals.length > 0) return
    unservedSinceMs = asked.askedAtMs
    begin(asked)
  }

  const onEnd = (served: Served, exitCode: number) => {
    if (served === candidate) onCandidateEnd(exitCode)
    else if (served === current) {
      current = undefined
      if (signals.length > 0) end(exitCode)
      else if (candidate?.phase === 'waiting') start(candidate)
      else if (served.phase !== 'retiring') onUnaskedEnd(exitCode)
    }
  }

  const onCandidateEnd = (exitCode: number) => {
    if (signals.length > 0) end(exitCode)
    else {
      const message = `the process of the server ended with ${exitCode} before it listened`
      const report = { error: 'start-failed', kind: 'start-failed', message }
      giveUp({ report, text: `error[start-failed]: ${message}\n`, exitCode: exitCode || EXIT_CODES.failed.code })
    }
  }

  const onUnaskedEnd = (exitCode: number) => {
    if (candidate !== undefined) return
    if (deps.isRevivable) view.onEnded(exitCode)
    else end(exitCode)
  }

  /** The first one drains, the second one ends within two seconds. */
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
  begin()
  return {
    ended,
    restart(restart) {
      if (signals.length > 0) return
      unservedSinceMs ??= restart.askedAtMs
      const isLeft = restart.askedAtMs - unservedSinceMs >= LONGEST_POSTPONED_MS
      const isBusy =
        candidate !== undefined && (candidate.phase === 'starting' || candidate.restart === undefined || isLeft)
      if (isBusy) later = restart
      else begin(restart)
    },
    mint: () => current?.process.order({ type: 'mint' }),
    interrupt,
  }
}
