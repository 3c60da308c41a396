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
  /** Time of the first change since a candidate was last served or refused. */
  readonly firstChangeMs: number | undefined
  /** The newest change that has to wait until this candidate is served or refused. */
  readonly postponed: Restart | undefined
}

/** The processes that exist. The server holds the storage lease; the candidate gets it after the server has exited. */
export type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'serving'; readonly server: number }
  /** The server is stopping for a candidate that has since failed. */
  | { readonly name: 'retiring'; readonly server: number }
  /** No server; the candidate validates its configuration. */
  | { readonly name: 'preparing'; readonly candidate: Candidate }
  /** The server serves while the candidate validates its configuration. */
  | { readonly name: 'checking'; readonly server: number; readonly candidate: Candidate }
  /** The server is stopping for an earlier candidate while `candidate` validates its configuration. */
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
  /** Start a process and order it to prepare its configuration. */
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

export const candidateOf = (phase: Phase): Candidate | undefined => ('candidate' in phase ? phase.candidate : undefined)

export const serverOf = (phase: Phase): number | undefined => ('server' in phase ? phase.server : undefined)

/** The phases before the first signal. */
export type RunningPhase = Exclude<Phase, { name: 'stopping' | 'stopping-start' | 'ended' }>

export const isRunning = (phase: Phase): phase is RunningPhase =>
  phase.name !== 'stopping' && phase.name !== 'stopping-start' && phase.name !== 'ended'

/** The phase after a new candidate was spawned. It replaces the earlier candidate. */
export function withCandidate(phase: Exclude<RunningPhase, { name: 'starting' }>, candidate: Candidate): RunningPhase {
  switch (phase.name) {
    case 'idle':
    case 'preparing':
      return { name: 'preparing', candidate }
    case 'serving':
    case 'checking':
      return { name: 'checking', server: phase.server, candidate }
    case 'retiring':
    case 'rechecking':
    case 'replacing':
      return { name: 'rechecking', server: phase.server, candidate }
  }
}

/** The phase after the candidate was refused or has exited. */
export function withoutCandidate(
  phase: Extract<RunningPhase, { candidate: Candidate }>,
): Extract<RunningPhase, { name: 'idle' | 'serving' | 'retiring' }> {
  switch (phase.name) {
    case 'preparing':
    case 'starting':
      return { name: 'idle' }
    case 'checking':
      return { name: 'serving', server: phase.server }
    case 'rechecking':
    case 'replacing':
      return { name: 'retiring', server: phase.server }
  }
}
