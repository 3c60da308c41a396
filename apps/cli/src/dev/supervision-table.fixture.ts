import type { Refusal, ServedFacts } from './dev-messages.ts'
import type { Candidate, Phase, Restart, SupervisionCommand, SupervisionEvent } from './supervision-state.ts'

export const FACTS: ServedFacts = {
  listening: { host: '127.0.0.1', port: 8080, basePath: '/v1' },
  storagePath: '/data.db',
  pepperPath: undefined,
  agentIds: [],
  workflowIds: [],
  triggerIds: [],
  hookIds: [],
  tryable: [],
  hasDocs: true,
  hasConsole: false,
  outboundUrls: [],
  consoleCode: undefined,
  tokenRealm: undefined,
  token: undefined,
}
export const REFUSAL: Refusal = {
  report: { error: 'config-invalid', kind: 'config-invalid', message: 'no' },
  text: 'error[config-invalid]: no\n',
  exitCode: 2,
}
export const restartAt = (requestedAtMs: number): Restart => ({ files: ['/a.mjs'], requestedAtMs })

export const SERVER = 0
export const CANDIDATE = 1
export const NEXT = 2

const candidate: Candidate = {
  id: CANDIDATE,
  restart: restartAt(1_000),
  firstChangeMs: 1_000,
  postponed: undefined,
}
export const postponing: Candidate = { ...candidate, postponed: restartAt(1_500) }
const respawned: Candidate = { ...candidate, id: NEXT, restart: restartAt(1_500) }
export const fresh: Candidate = { ...respawned, firstChangeMs: 1_500 }

export const PHASES = {
  idle: { name: 'idle' },
  serving: { name: 'serving', server: SERVER },
  retiring: { name: 'retiring', server: SERVER },
  preparing: { name: 'preparing', candidate },
  checking: { name: 'checking', server: SERVER, candidate },
  rechecking: { name: 'rechecking', server: SERVER, candidate },
  replacing: { name: 'replacing', server: SERVER, candidate },
  starting: { name: 'starting', candidate },
  stopping: { name: 'stopping', server: SERVER, isForced: false },
  'stopping-start': { name: 'stopping-start', candidate, isForced: false },
  ended: { name: 'ended' },
} as const satisfies Record<Phase['name'], Phase>

export const EVENTS = {
  prepared: { type: 'prepared', id: CANDIDATE },
  listening: { type: 'listening', id: CANDIDATE, facts: FACTS },
  refused: { type: 'refused', id: CANDIDATE, refusal: REFUSAL },
  'exit of the candidate': { type: 'exited', id: CANDIDATE, exitCode: 3 },
  'exit of the server': { type: 'exited', id: SERVER, exitCode: 70 },
  'replace-timed-out': { type: 'replace-timed-out', id: SERVER },
  restart: { type: 'restart', restart: restartAt(1_500) },
  mint: { type: 'mint' },
  signal: { type: 'signal', signal: 'SIGINT' },
  'stop-timed-out': { type: 'stop-timed-out', signal: 'SIGINT' },
} as const satisfies Record<string, SupervisionEvent>

export type PhaseName = keyof typeof PHASES
export type EventName = keyof typeof EVENTS

export const spawn = (id: number): SupervisionCommand => ({ type: 'spawn', id })
export const kill = (id: number): SupervisionCommand => ({ type: 'kill', id })
const order = (id: number, type: 'start' | 'replace' | 'mint'): SupervisionCommand => ({
  type: 'order',
  id,
  order: { type },
})
export const forward = (id: number): SupervisionCommand => ({
  type: 'order',
  id,
  order: { type: 'signal', signal: 'SIGINT' },
})
export const end = (exitCode: number): SupervisionCommand => ({ type: 'end', exitCode })
export const showListening: SupervisionCommand = { type: 'show-listening', facts: FACTS, restart: candidate.restart }
export const showRefused = (isServing: boolean): SupervisionCommand => ({
  type: 'show-refused',
  refusal: REFUSAL,
  isServing,
})
const showEarlyExit = (isServing: boolean): SupervisionCommand => ({
  type: 'show-refused',
  isServing,
  refusal: {
    report: {
      error: 'start-failed',
      kind: 'start-failed',
      message: 'the server process exited with code 3 before it listened',
    },
    text: 'error[start-failed]: the server process exited with code 3 before it listened\n',
    exitCode: 3,
  },
})
const scheduleReplace: SupervisionCommand = {
  type: 'schedule',
  ms: 3_000,
  event: { type: 'replace-timed-out', id: SERVER },
}
const scheduleStop: SupervisionCommand = {
  type: 'schedule',
  ms: 2_500,
  event: { type: 'stop-timed-out', signal: 'SIGINT' },
}

type Row = readonly [Phase, ...SupervisionCommand[]]

/** What each event does in each phase; an event that is not listed changes nothing. */
export const TABLE: Record<PhaseName, Partial<Record<EventName, Row>>> = {
  idle: {
    restart: [{ name: 'preparing', candidate: fresh }, spawn(NEXT)],
    signal: [PHASES.ended, end(0)],
  },
  serving: {
    'exit of the server': [PHASES.idle, { type: 'show-exited', exitCode: 70 }],
    'replace-timed-out': [PHASES.serving, kill(SERVER)],
    restart: [{ ...PHASES.checking, candidate: fresh }, spawn(NEXT)],
    mint: [PHASES.serving, order(SERVER, 'mint')],
    signal: [PHASES.stopping, forward(SERVER)],
  },
  retiring: {
    'exit of the server': [PHASES.idle],
    'replace-timed-out': [PHASES.retiring, kill(SERVER)],
    restart: [{ ...PHASES.rechecking, candidate: fresh }, spawn(NEXT)],
    mint: [PHASES.retiring, order(SERVER, 'mint')],
    signal: [PHASES.stopping, forward(SERVER)],
  },
  preparing: {
    prepared: [PHASES.starting, order(CANDIDATE, 'start')],
    refused: [PHASES.idle, showRefused(false)],
    'exit of the candidate': [PHASES.idle, showEarlyExit(false)],
    restart: [{ ...PHASES.preparing, candidate: respawned }, kill(CANDIDATE), spawn(NEXT)],
    signal: [PHASES.ended, kill(CANDIDATE), end(0)],
  },
  checking: {
    prepared: [PHASES.replacing, order(SERVER, 'replace'), scheduleReplace],
    refused: [PHASES.serving, showRefused(true)],
    'exit of the candidate': [PHASES.serving, showEarlyExit(true)],
    'exit of the server': [PHASES.preparing],
    'replace-timed-out': [PHASES.checking, kill(SERVER)],
    restart: [{ ...PHASES.checking, candidate: respawned }, kill(CANDIDATE), spawn(NEXT)],
    mint: [PHASES.checking, order(SERVER, 'mint')],
    signal: [PHASES.stopping, kill(CANDIDATE), forward(SERVER)],
  },
  rechecking: {
    prepared: [PHASES.replacing],
    refused: [PHASES.retiring, showRefused(false)],
    'exit of the candidate': [PHASES.retiring, showEarlyExit(false)],
    'exit of the server': [PHASES.preparing],
    'replace-timed-out': [PHASES.rechecking, kill(SERVER)],
    restart: [{ ...PHASES.rechecking, candidate: respawned }, kill(CANDIDATE), spawn(NEXT)],
    mint: [PHASES.rechecking, order(SERVER, 'mint')],
    signal: [PHASES.stopping, kill(CANDIDATE), forward(SERVER)],
  },
  replacing: {
    refused: [PHASES.retiring, showRefused(false)],
    'exit of the candidate': [PHASES.retiring, showEarlyExit(false)],
    'exit of the server': [PHASES.starting, order(CANDIDATE, 'start')],
    'replace-timed-out': [PHASES.replacing, kill(SERVER)],
    restart: [{ ...PHASES.rechecking, candidate: respawned }, kill(CANDIDATE), spawn(NEXT)],
    mint: [PHASES.replacing, order(SERVER, 'mint')],
    signal: [PHASES.stopping, kill(CANDIDATE), forward(SERVER)],
  },
  starting: {
    listening: [{ name: 'serving', server: CANDIDATE }, showListening],
    refused: [PHASES.idle, showRefused(false)],
    'exit of the candidate': [PHASES.idle, showEarlyExit(false)],
    restart: [{ ...PHASES.starting, candidate: postponing }],
    signal: [PHASES['stopping-start'], forward(CANDIDATE)],
  },
  stopping: {
    'exit of the server': [PHASES.ended, end(70)],
    'replace-timed-out': [PHASES.stopping, kill(SERVER)],
    mint: [PHASES.stopping, order(SERVER, 'mint')],
    signal: [{ ...PHASES.stopping, isForced: true }, forward(SERVER), scheduleStop],
    'stop-timed-out': [PHASES.ended, kill(SERVER), end(130)],
  },
  'stopping-start': {
    listening: [{ name: 'stopping', server: CANDIDATE, isForced: false }, showListening],
    refused: [PHASES.ended, showRefused(false), end(2)],
    'exit of the candidate': [PHASES.ended, end(3)],
    signal: [{ ...PHASES['stopping-start'], isForced: true }, forward(CANDIDATE), scheduleStop],
    'stop-timed-out': [PHASES.ended, kill(CANDIDATE), end(130)],
  },
  ended: {},
}
