import { EXIT_CODES } from '../exit-codes.ts'
import type { Interruption } from '../terminal.ts'
import type { DevOrder, Refusal, ServedFacts } from './dev-messages.ts'

/** A reason to reload the configuration: the changed files, or none if the user pressed a key. */
export interface Restart {
  readonly files: readonly string[]
  readonly requestedAtMs: number // monotonic
}

export type Signal = Extract<Interruption, { type: 'signal' }>['signal']

/** A process with a new configuration that does not serve yet. */
export interface Candidate {
  readonly id: number
  /** `undefined` for the first start. */
  readonly restart: Restart | undefined
  /** Time of the first change since the last candidate that was served or refused. */
  readonly firstChangeMs: number | undefined
  /** The newest change that has to wait until this candidate is served or refused. */
  readonly postponed: Restart | undefined
}

/** Which processes exist. `server` holds the storage lease; the candidate gets it after the server has exited. */
export type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'serving'; readonly server: number }
  /** The server is stopping for a candidate that has failed since. */
  | { readonly name: 'retiring'; readonly server: number }
  /** No server; the candidate validates its configuration. */
  | { readonly name: 'preparing'; readonly candidate: Candidate }
  /** The server serves while the candidate validates its configuration. */
  | { readonly name: 'checking'; readonly server: number; readonly candidate: Candidate }
  /** The server is stopping for an earlier candidate while this one validates its configuration. */
  | { readonly name: 'rechecking'; readonly server: number; readonly candidate: Candidate }
  /** The candidate is valid and waits for the server to exit. */
  | { readonly name: 'replacing'; readonly server: number; readonly candidate: Candidate }
  /** No other server; the candidate starts to listen. */
  | { readonly name: 'starting'; readonly candidate: Candidate }
  /** A signal arrived while the server served or retired. */
  | { readonly name: 'stopping'; readonly server: number; readonly isForced: boolean }
  /** A signal arrived while the candidate was starting. */
  | { readonly name: 'stopping-start'; readonly candidate: Candidate; readonly isForced: boolean }
  | { readonly name: 'ended' }

export interface SupervisionState {
  readonly phase: Phase
  /** Number of processes spawned so far, and the id of the next one. */
  readonly spawned: number
  /** Whether to wait for the next change when the server exits, instead of ending. */
  readonly restartsAfterExit: boolean
}

/** `id` names the process that the event is about. */
export type SupervisionEvent =
  | { readonly type: 'prepared'; readonly id: number }
  | { readonly type: 'listening'; readonly id: number; readonly facts: ServedFacts }
  | { readonly type: 'refused'; readonly id: number; readonly refusal: Refusal }
  | { readonly type: 'exited'; readonly id: number; readonly exitCode: number }
  | { readonly type: 'replace-timed-out'; readonly id: number }
  | { readonly type: 'restart'; readonly restart: Restart }
  | { readonly type: 'mint' }
  | { readonly type: 'signal'; readonly signal: Signal }
  | { readonly type: 'stop-timed-out'; readonly signal: Signal }

export type SupervisionCommand =
  /** Start a process and have it prepare its configuration. */
  | { readonly type: 'spawn'; readonly id: number }
  | { readonly type: 'order'; readonly id: number; readonly order: Exclude<DevOrder, { type: 'prepare' }> }
  | { readonly type: 'kill'; readonly id: number }
  /** Feed `event` back after `ms`. */
  | { readonly type: 'schedule'; readonly ms: number; readonly event: SupervisionEvent }
  | { readonly type: 'show-listening'; readonly facts: ServedFacts; readonly restart: Restart | undefined }
  | { readonly type: 'show-refused'; readonly refusal: Refusal; readonly isServing: boolean }
  | { readonly type: 'show-exited'; readonly exitCode: number }
  /** End the supervision with this code. */
  | { readonly type: 'end'; readonly exitCode: number }

export type Transition = readonly [SupervisionState, readonly SupervisionCommand[]]

/** How long a replaced server may take to stop before it is killed. Committed data is safe. */
const REPLACE_MS = 3_000
const FORCED_STOP_MS = 2_500
/** After this time, a stream of changes no longer discards the candidate, so that a slow machine still restarts. */
const MAX_POSTPONE_MS = 3_000

/** Starts the first process. */
export function begin(restartsAfterExit: boolean): Transition {
  const state: SupervisionState = { phase: { name: 'idle' }, spawned: 0, restartsAfterExit }
  return spawn(state, { restart: undefined, firstChangeMs: undefined })
}

/** Decides what `event` changes. An event that does not apply to the phase changes nothing. */
export function next(state: SupervisionState, event: SupervisionEvent): Transition {
  switch (event.type) {
    case 'prepared':
      return onPrepared(state, event.id)
    case 'listening':
      return onListening(state, event)
    case 'refused':
      return candidateOf(state.phase)?.id === event.id ? dropCandidate(state, event.refusal) : [state, []]
    case 'exited':
      return onExited(state, event)
    case 'replace-timed-out':
      return [state, serverOf(state.phase) === event.id ? [{ type: 'kill', id: event.id }] : []]
    case 'restart':
      return onRestart(state, event.restart)
    case 'mint':
      return [state, orderServer(state.phase, { type: 'mint' })]
    case 'signal':
      return onSignal(state, event.signal)
    case 'stop-timed-out':
      return onStopTimedOut(state, event.signal)
  }
}

function onPrepared(state: SupervisionState, id: number): Transition {
  const { phase } = state
  if (candidateOf(phase)?.id !== id) return [state, []]
  switch (phase.name) {
    case 'preparing':
      return start(state, phase.candidate)
    case 'checking':
      return to(state, { ...phase, name: 'replacing' }, [
        { type: 'order', id: phase.server, order: { type: 'replace' } },
        { type: 'schedule', ms: REPLACE_MS, event: { type: 'replace-timed-out', id: phase.server } },
      ])
    case 'rechecking':
      return to(state, { ...phase, name: 'replacing' })
    default:
      return [state, []]
  }
}

function onListening(state: SupervisionState, event: Extract<SupervisionEvent, { type: 'listening' }>): Transition {
  const { phase } = state
  if ((phase.name !== 'starting' && phase.name !== 'stopping-start') || phase.candidate.id !== event.id)
    return [state, []]
  const { id, restart, postponed } = phase.candidate
  const shown: SupervisionCommand = { type: 'show-listening', facts: event.facts, restart }
  return phase.name === 'starting'
    ? startPostponed(to(state, { name: 'serving', server: id }, [shown]), postponed)
    : to(state, { name: 'stopping', server: id, isForced: phase.isForced }, [shown])
}

function dropCandidate(state: SupervisionState, refusal: Refusal): Transition {
  const { phase } = state
  const candidate = candidateOf(phase)
  if (candidate === undefined) return [state, []]
  const shown: SupervisionCommand = { type: 'show-refused', refusal, isServing: phase.name === 'checking' }
  const isFatal = candidate.restart === undefined || phase.name === 'stopping-start'
  if (isFatal) return end(state, refusal.exitCode, [shown])
  return startPostponed(to(state, withoutCandidate(phase), [shown]), candidate.postponed)
}

function onExited(
  state: SupervisionState,
  { id, exitCode }: Extract<SupervisionEvent, { type: 'exited' }>,
): Transition {
  const { phase } = state
  const isCandidate = candidateOf(phase)?.id === id
  if (!isCandidate && serverOf(phase) !== id) return [state, []]
  if (phase.name === 'stopping' || phase.name === 'stopping-start') return end(state, exitCode)
  return isCandidate ? dropCandidate(state, exitRefusal(exitCode)) : onServerExited(state, exitCode)
}

function onServerExited(state: SupervisionState, exitCode: number): Transition {
  const { phase } = state
  switch (phase.name) {
    case 'serving':
      return state.restartsAfterExit
        ? to(state, { name: 'idle' }, [{ type: 'show-exited', exitCode }])
        : end(state, exitCode)
    case 'retiring':
      return to(state, { name: 'idle' })
    case 'checking':
    case 'rechecking':
      return to(state, { name: 'preparing', candidate: phase.candidate })
    case 'replacing':
      return start(state, phase.candidate)
    default:
      return [state, []]
  }
}

function onRestart(state: SupervisionState, restart: Restart): Transition {
  const { phase } = state
  if (phase.name === 'stopping' || phase.name === 'stopping-start' || phase.name === 'ended') return [state, []]
  const candidate = candidateOf(phase)
  const firstChangeMs = candidate?.firstChangeMs ?? restart.requestedAtMs
  if (candidate === undefined) return spawn(state, { restart, firstChangeMs })
  const isOverdue = restart.requestedAtMs - firstChangeMs >= MAX_POSTPONE_MS
  if (phase.name === 'starting' || candidate.restart === undefined || isOverdue)
    return to(state, withCandidate(phase, { ...candidate, postponed: restart }))
  const [spawned, commands] = spawn(state, { restart, firstChangeMs })
  return [spawned, [{ type: 'kill', id: candidate.id }, ...commands]]
}

/** The first signal drains, the second stops the server within two seconds. */
function onSignal(state: SupervisionState, signal: Signal): Transition {
  const { phase } = state
  const order = (id: number): SupervisionCommand => ({ type: 'order', id, order: { type: 'signal', signal } })
  switch (phase.name) {
    case 'ended':
      return [state, []]
    case 'idle':
      return end(state, EXIT_CODES.ok.code)
    case 'preparing':
      return end(state, EXIT_CODES.ok.code, [{ type: 'kill', id: phase.candidate.id }])
    case 'serving':
    case 'retiring':
      return to(state, { name: 'stopping', server: phase.server, isForced: false }, [order(phase.server)])
    case 'checking':
    case 'rechecking':
    case 'replacing':
      return to(state, { name: 'stopping', server: phase.server, isForced: false }, [
        { type: 'kill', id: phase.candidate.id },
        order(phase.server),
      ])
    case 'starting':
      return to(state, { name: 'stopping-start', candidate: phase.candidate, isForced: false }, [
        order(phase.candidate.id),
      ])
    case 'stopping':
    case 'stopping-start': {
      const ordered = order(phase.name === 'stopping' ? phase.server : phase.candidate.id)
      if (phase.isForced) return to(state, phase, [ordered])
      const event = { type: 'stop-timed-out', signal } as const
      return to(state, { ...phase, isForced: true }, [ordered, { type: 'schedule', ms: FORCED_STOP_MS, event }])
    }
  }
}

function onStopTimedOut(state: SupervisionState, signal: Signal): Transition {
  const { phase } = state
  if (phase.name !== 'stopping' && phase.name !== 'stopping-start') return [state, []]
  const id = phase.name === 'stopping' ? phase.server : phase.candidate.id
  const exitCode = signal === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.failed.code
  return end(state, exitCode, [{ type: 'kill', id }])
}

const to = (state: SupervisionState, phase: Phase, commands: readonly SupervisionCommand[] = []): Transition => [
  { ...state, phase },
  commands,
]

const end = (state: SupervisionState, exitCode: number, commands: readonly SupervisionCommand[] = []): Transition =>
  to(state, { name: 'ended' }, [...commands, { type: 'end', exitCode }])

const start = (state: SupervisionState, candidate: Candidate): Transition =>
  to(state, { name: 'starting', candidate }, [{ type: 'order', id: candidate.id, order: { type: 'start' } }])

function spawn(state: SupervisionState, cause: Pick<Candidate, 'restart' | 'firstChangeMs'>): Transition {
  const id = state.spawned
  const phase = withCandidate(state.phase, { id, ...cause, postponed: undefined })
  return [{ ...state, phase, spawned: id + 1 }, [{ type: 'spawn', id }]]
}

function startPostponed([state, commands]: Transition, postponed: Restart | undefined): Transition {
  if (postponed === undefined) return [state, commands]
  const [spawned, more] = spawn(state, { restart: postponed, firstChangeMs: postponed.requestedAtMs })
  return [spawned, [...commands, ...more]]
}
