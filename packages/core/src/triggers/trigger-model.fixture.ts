import type { CatchUp, EpochMs, FireStatus, Overlap } from '@perdure/ports'
import fc from 'fast-check'
import { type Window, walkOccurrences } from './trigger-oracle.fixture.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ON_TIME = MINUTE

/** Both clock changes of zones that shift by an hour and by half an hour, a leap day, and zones that never shift. */
const EDGES = [
  ['America/New_York', '2025-03-09T07:00:00Z'],
  ['America/New_York', '2025-11-02T06:00:00Z'],
  ['Europe/London', '2025-03-30T01:00:00Z'],
  ['Europe/London', '2025-10-26T01:00:00Z'],
  ['Australia/Lord_Howe', '2025-10-04T15:30:00Z'],
  ['Australia/Lord_Howe', '2025-04-05T15:00:00Z'],
  ['Asia/Kathmandu', '2024-02-29T12:00:00Z'],
  ['UTC', '2024-02-29T00:00:00Z'],
] as const

const CRONS = [
  '0 * * * *',
  '*/30 * * * *',
  '30 2 * * *',
  '30 1 * * *',
  '15,45 0-3 * * *',
  '5 */3 * * *',
  '0 0 29 2 *',
  '10 1,2 * * 0',
  '59 23 28-31 * *',
  '45 1 1-7 4 6',
]

export type Step =
  | { readonly do: 'pass' | 'down' | 'step'; readonly ms: number }
  | { readonly do: 'restart' | 'enable' | 'disable' | 'fire' | 'finish' | 'prune' }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 5 * HOUR }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('down' as const), ms: fc.integer({ min: 1, max: 30 * HOUR }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -2 * DAY, max: 2 * DAY }) }),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom('restart', 'enable', 'disable', 'fire', 'finish', 'finish', 'prune').map((name) => ({
      do: name as 'restart',
    })),
  },
)

interface Rule {
  readonly occurrences: (after: number, until: number) => readonly EpochMs[]
  readonly definition: object
}

export interface Script {
  readonly edge: (typeof EDGES)[number]
  readonly beforeMs: number
  readonly cron: string | undefined
  readonly intervalMs: number
  readonly catchUp: CatchUp
  readonly overlap: Overlap
  readonly maxCatchUp: number
  readonly catchUpWindowMs: number
  readonly steps: readonly Step[]
}

export const scripts: fc.Arbitrary<Script> = fc.record({
  edge: fc.constantFrom(...EDGES),
  beforeMs: fc.integer({ min: 0, max: 30 * HOUR }),
  cron: fc.option(fc.constantFrom(...CRONS), { nil: undefined, freq: 5 }),
  intervalMs: fc.integer({ min: 40 * MINUTE, max: 9 * HOUR }),
  catchUp: fc.constantFrom('none', 'latest', 'all'),
  overlap: fc.constantFrom('skip', 'queue', 'allow'),
  maxCatchUp: fc.integer({ min: 1, max: 5 }),
  catchUpWindowMs: fc.oneof(fc.integer({ min: 1_000, max: MINUTE }), fc.integer({ min: MINUTE, max: 12 * HOUR })),
  steps: fc.array(stepArbitrary, { minLength: 3, maxLength: 12 }),
})

const windowOf = ([timezone, edge]: Script['edge']): Window => {
  const at = Date.parse(edge)
  return { timezone, from: (at - 9 * DAY) as EpochMs, until: (at + 14 * DAY) as EpochMs }
}

function ruleOf({ cron, intervalMs, edge }: Script, anchor: () => number): Rule {
  if (cron === undefined) {
    const occurrences = (after: number, until: number) => {
      const found: EpochMs[] = []
      const from = anchor() - Math.ceil((anchor() - after + 1) / intervalMs) * intervalMs
      for (let at = from; at <= until; at += intervalMs) if (at > after) found.push(at as EpochMs)
      return found
    }
    return { occurrences, definition: { kind: 'interval', intervalMs } }
  }
  const all = walkOccurrences(cron, windowOf(edge))
  return {
    occurrences: (after, until) => all.filter((at) => at > after && at <= until),
    definition: { kind: 'cron', cron, timezone: edge[0] },
  }
}

/** A model of the policies on plain lists. */
export function createModel(script: Script, now: number) {
  const { catchUp, overlap, maxCatchUp, catchUpWindowMs } = script
  const state = {
    ...{ anchor: now, from: now, decided: Number.NEGATIVE_INFINITY, isEnabled: true },
    ...{ missed: 0, live: 0, manual: 0 },
    fires: new Map<number, FireStatus>(),
    pending: [] as number[],
  }
  const rule = ruleOf(script, () => state.anchor)

  const occurrencesToFire = (due: readonly number[], at: number): readonly number[] => {
    const newest = due.slice(catchUp === 'all' ? -maxCatchUp : -1)
    const longest = catchUp === 'none' ? Math.min(ON_TIME, catchUpWindowMs) : catchUpWindowMs
    return newest.filter((occurrence) => at - occurrence <= longest)
  }
  const fire = (occurrence: number) => {
    const isBusy = state.live > 0 || (overlap === 'queue' && state.pending.length > 0)
    if (overlap === 'skip' && isBusy) state.fires.set(occurrence, 'skipped')
    else if (overlap === 'queue' && isBusy) {
      state.fires.set(occurrence, 'pending')
      state.pending.push(occurrence)
    } else start(occurrence)
  }
  const start = (occurrence: number) => {
    state.fires.set(occurrence, 'started')
    state.live++
  }
  const startNext = () => {
    if (state.live > 0) return
    const next = state.pending.shift()
    if (next !== undefined) start(next)
  }

  return {
    state,
    rule,
    /** Decides everything that is due now; `isInterrupted` is true after a restart or a change of the wall clock. */
    decide(at: number, isInterrupted: boolean) {
      startNext()
      if (!state.isEnabled) return
      const due = rule.occurrences(state.from, at)
      if (due.length === 0 && isInterrupted) state.from = Math.max(at, state.decided)
      const chosen = new Set(occurrencesToFire(due, at))
      for (const occurrence of due) {
        if (!chosen.has(occurrence)) {
          state.fires.set(occurrence, 'missed')
          state.missed++
        } else fire(occurrence)
        state.decided = occurrence
        state.from = occurrence
      }
    },
    enable(at: number) {
      if (state.isEnabled) return
      Object.assign(state, { isEnabled: true, anchor: at, from: Math.max(at, state.decided) })
    },
    disable() {
      state.isEnabled = false
      for (const occurrence of state.pending.splice(0)) state.fires.set(occurrence, 'skipped')
    },
    finish() {
      for (const [occurrence, status] of state.fires) if (status === 'started') state.fires.set(occurrence, 'completed')
      state.live = 0
      startNext()
    },
    /** The agents of the test do not resume after a crash, so their runs fail. */
    crash() {
      for (const [occurrence, status] of state.fires) if (status === 'started') state.fires.set(occurrence, 'failed')
      state.live = 0
    },
    fireByHand() {
      state.live++
      state.manual++
    },
  }
}

export type Model = ReturnType<typeof createModel>
