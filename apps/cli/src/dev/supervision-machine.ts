import { EXIT_CODES } from '../exit-codes.ts'
import type { Refusal } from './dev-messages.ts'
import {
  type Candidate,
  candidateOf,
  isRunning,
  type Phase,
  type Restart,
  type Signal,
  type SupervisionCommand,
  type SupervisionEvent,
  type SupervisionState,
  serverOf,
  type Transition,
  withCandidate,
  withoutCandidate,
} from './supervision-state.ts'

type EventOf<Type extends SupervisionEvent['type']> = Extract<SupervisionEvent, { type: Type }>

/** How long a replaced server may take to stop before it is killed. Committed data is safe. */
const REPLACE_MS = 3_000
const FORCED_STOP_MS = 2_500
/** After this time, changes no longer discard the candidate, so that the server restarts even on a slow machine. */
const MAX_POSTPONE_MS = 3_000

/** Spawns the first process. */
export function begin(restartsAfterExit: boolean): Transition {
  const idle = { name: 'idle' } as const
  const state: SupervisionState = { phase: idle, spawned: 0, restartsAfterExit }
  return spawn(state, idle, { restart: undefined, firstChangeMs: undefined })
}

/** Handles one event. An event that does not apply in the current phase changes nothing. */
export function next(state: SupervisionState, event: SupervisionEvent): Transition {
  switch (event.type) {
    case 'prepared':
      return onPrepared(state, event.id)
    case 'listening':
      return onListening(state, event)
    case 'refused':
      return onRefused(state, event)
    case 'exited':
      return onExited(state, event)
    case 'replace-timed-out':
      return [state, serverOf(state.phase) === event.id ? [{ type: 'kill', id: event.id }] : []]
    case 'restart':
      return onRestart(state, event.restart)
    case 'mint':
      return onMint(state)
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
      return transition(state, { ...phase, name: 'replacing' }, [
        { type: 'order', id: phase.server, order: { type: 'replace' } },
        { type: 'schedule', ms: REPLACE_MS, event: { type: 'replace-timed-out', id: phase.server } },
      ])
    case 'rechecking':
      return transition(state, { ...phase, name: 'replacing' })
    default:
      return [state, []]
  }
}

function onListening(state: SupervisionState, event: EventOf<'listening'>): Transition {
  const { phase } = state
  if ((phase.name !== 'starting' && phase.name !== 'stopping-start') || phase.candidate.id !== event.id)
    return [state, []]
  const { id, restart, postponed } = phase.candidate
  const shown: SupervisionCommand = { type: 'show-listening', facts: event.facts, restart }
  return phase.name === 'starting'
    ? transitionThenRestart(state, { name: 'serving', server: id }, { commands: [shown], postponed })
    : transition(state, { name: 'stopping', server: id, isForced: phase.isForced }, [shown])
}

function onRefused(state: SupervisionState, { id, refusal }: EventOf<'refused'>): Transition {
  return candidateOf(state.phase)?.id === id ? dropCandidate(state, refusal) : [state, []]
}

function onExited(state: SupervisionState, { id, exitCode }: EventOf<'exited'>): Transition {
  const { phase } = state
  const isCandidate = candidateOf(phase)?.id === id
  if (!isCandidate && serverOf(phase) !== id) return [state, []]
  if (phase.name === 'stopping' || phase.name === 'stopping-start') return end(state, exitCode)
  return isCandidate ? dropCandidate(state, exitRefusal(exitCode)) : onServerExited(state, exitCode)
}

function dropCandidate(state: SupervisionState, refusal: Refusal): Transition {
  const { phase } = state
  const shown: SupervisionCommand = { type: 'show-refused', refusal, isServing: phase.name === 'checking' }
  if (!isRunning(phase) || !('candidate' in phase) || phase.candidate.restart === undefined)
    return end(state, refusal.exitCode, [shown])
  return transitionThenRestart(state, withoutCandidate(phase), {
    commands: [shown],
    postponed: phase.candidate.postponed,
  })
}

function onServerExited(state: SupervisionState, exitCode: number): Transition {
  const { phase } = state
  switch (phase.name) {
    case 'serving':
      return state.restartsAfterExit
        ? transition(state, { name: 'idle' }, [{ type: 'show-exited', exitCode }])
        : end(state, exitCode)
    case 'retiring':
      return transition(state, { name: 'idle' })
    case 'checking':
    case 'rechecking':
      return transition(state, { name: 'preparing', candidate: phase.candidate })
    case 'replacing':
      return start(state, phase.candidate)
    default:
      return [state, []]
  }
}

function onRestart(state: SupervisionState, restart: Restart): Transition {
  const { phase } = state
  if (!isRunning(phase)) return [state, []]
  if (!('candidate' in phase)) return spawn(state, phase, { restart, firstChangeMs: restart.requestedAtMs })
  const { candidate } = phase
  const firstChangeMs = candidate.firstChangeMs ?? restart.requestedAtMs
  const isOverdue = restart.requestedAtMs - firstChangeMs >= MAX_POSTPONE_MS
  if (phase.name === 'starting' || candidate.restart === undefined || isOverdue)
    return transition(state, { ...phase, candidate: { ...candidate, postponed: restart } })
  const [spawned, commands] = spawn(state, phase, { restart, firstChangeMs })
  return [spawned, [{ type: 'kill', id: candidate.id }, ...commands]]
}

function onMint(state: SupervisionState): Transition {
  const id = serverOf(state.phase)
  return [state, id === undefined ? [] : [{ type: 'order', id, order: { type: 'mint' } }]]
}

/** The first signal drains. The second stops the server within two seconds; if it does not stop, it is killed. */
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
      return transition(state, { name: 'stopping', server: phase.server, isForced: false }, [order(phase.server)])
    case 'checking':
    case 'rechecking':
    case 'replacing':
      return transition(state, { name: 'stopping', server: phase.server, isForced: false }, [
        { type: 'kill', id: phase.candidate.id },
        order(phase.server),
      ])
    case 'starting':
      return transition(state, { name: 'stopping-start', candidate: phase.candidate, isForced: false }, [
        order(phase.candidate.id),
      ])
    case 'stopping':
    case 'stopping-start': {
      const ordered = order(phase.name === 'stopping' ? phase.server : phase.candidate.id)
      if (phase.isForced) return transition(state, phase, [ordered])
      const event = { type: 'stop-timed-out', signal } as const
      return transition(state, { ...phase, isForced: true }, [ordered, { type: 'schedule', ms: FORCED_STOP_MS, event }])
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

const transition = (
  state: SupervisionState,
  phase: Phase,
  commands: readonly SupervisionCommand[] = [],
): Transition => [{ ...state, phase }, commands]

const end = (state: SupervisionState, exitCode: number, commands: readonly SupervisionCommand[] = []): Transition =>
  transition(state, { name: 'ended' }, [...commands, { type: 'end', exitCode }])

const start = (state: SupervisionState, candidate: Candidate): Transition =>
  transition(state, { name: 'starting', candidate }, [{ type: 'order', id: candidate.id, order: { type: 'start' } }])

type SpawnPhase = Parameters<typeof withCandidate>[0]

function spawn(
  state: SupervisionState,
  phase: SpawnPhase,
  cause: Pick<Candidate, 'restart' | 'firstChangeMs'>,
): Transition {
  const id = state.spawned
  const candidate = { id, ...cause, postponed: undefined }
  return [{ ...state, phase: withCandidate(phase, candidate), spawned: id + 1 }, [{ type: 'spawn', id }]]
}

interface Continuation {
  readonly commands: readonly SupervisionCommand[]
  readonly postponed: Restart | undefined
}

/** Moves to `phase`, then spawns a new candidate if a restart was postponed. */
function transitionThenRestart(
  state: SupervisionState,
  phase: SpawnPhase,
  { commands, postponed }: Continuation,
): Transition {
  if (postponed === undefined) return transition(state, phase, commands)
  const [spawned, more] = spawn(state, phase, { restart: postponed, firstChangeMs: postponed.requestedAtMs })
  return [spawned, [...commands, ...more]]
}

function exitRefusal(exitCode: number): Refusal {
  const message = `the server process exited with code ${exitCode} before it listened`
  const report = { error: 'start-failed', kind: 'start-failed', message }
  return { report, text: `error[start-failed]: ${message}\n`, exitCode: exitCode || EXIT_CODES.failed.code }
}
