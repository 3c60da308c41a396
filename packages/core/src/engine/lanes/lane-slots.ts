import { type EpochMs, plusMs, type TakenSlot } from '@perdure/ports'
import type { Lane } from './lane.ts'

/** The taken slots of all lanes, in memory. */
export interface LaneSlots {
  hasFree(lane: Lane): boolean
  /** Takes a free slot and returns its number. */
  take(lane: Lane, runId: string): number
  /** Frees the slot. */
  free(lane: Lane, slot: number): void
  /** Keeps the slot taken until this time. */
  keepUntil(lane: Lane, slot: number, freeAt: EpochMs): void
  /** When the next slot that is kept until a time becomes free. */
  nextFreeAt(lane: Lane): EpochMs | undefined
  /** The runs that hold slots, in the order in which they took them. */
  holders(lane: Pick<Lane, 'name'>): readonly string[]
  /** How many lanes have taken slots. */
  size(): number
  /** Adds those slots that were taken earlier and are kept until a time. */
  restore(slots: readonly TakenSlot[]): void
}

interface State {
  readonly holders: Map<number, string>
  /** Times at which slots become free, earliest first. */
  readonly kept: Map<number, EpochMs>
  /** Free slots with a number below `next`. The slot that was freed first is taken first. */
  readonly free: Set<number>
  next: number
  periodMs: number | undefined
  /** When `kept` was last checked. */
  checkedAt: number
}

/** Each start also checks this many other lanes, so that lanes without taken slots take no memory. */
const SWEPT_LANES = 2

export function createLaneSlots(now: () => EpochMs): LaneSlots {
  const states = new Map<string, State>()

  const stateOf = ({ name }: Pick<Lane, 'name'>): State => {
    const known = states.get(name)
    if (known !== undefined) return known
    const sets = { holders: new Map(), kept: new Map(), free: new Set<number>() }
    const state: State = { ...sets, next: 0, periodMs: undefined, checkedAt: Number.POSITIVE_INFINITY }
    states.set(name, state)
    return state
  }

  const freeDue = (name: string, periodMs = states.get(name)?.periodMs) => {
    const state = states.get(name)
    if (state === undefined) return
    const at = now()
    if (periodMs !== undefined) {
      if (at < state.checkedAt) limitToPeriod(state, plusMs(at, periodMs))
      state.periodMs = periodMs
      state.checkedAt = at
    }
    for (const [slot, freeAt] of state.kept) {
      if (freeAt > at) break
      state.kept.delete(slot)
      state.free.add(slot)
    }
    if (state.kept.size === 0 && state.holders.size === 0) states.delete(name)
  }

  const sweep = () => {
    for (const name of firstOf(states.keys(), SWEPT_LANES)) {
      freeDue(name)
      const state = states.get(name)
      if (state === undefined) continue
      states.delete(name)
      states.set(name, state)
    }
  }

  return {
    hasFree(lane) {
      freeDue(lane.name, lane.periodMs)
      const state = states.get(lane.name)
      return state === undefined || state.holders.size + state.kept.size < lane.limit
    },
    take(lane, runId) {
      const state = stateOf(lane)
      const [freed] = state.free
      const slot = freed ?? state.next++
      state.free.delete(slot)
      state.holders.set(slot, runId)
      state.periodMs = lane.periodMs
      return slot
    },
    free(lane, slot) {
      const state = stateOf(lane)
      state.holders.delete(slot)
      state.free.add(slot)
      freeDue(lane.name, lane.periodMs)
    },
    keepUntil(lane, slot, freeAt) {
      const state = stateOf(lane)
      state.holders.delete(slot)
      state.kept.set(slot, freeAt)
      sweep()
    },
    nextFreeAt({ name }) {
      const [first] = states.get(name)?.kept.values() ?? []
      return first
    },
    holders: ({ name }) => [...(states.get(name)?.holders.values() ?? [])],
    size: () => states.size,
    restore(slots) {
      for (const { lane: name, slot, freeAt } of [...slots].sort(byFreeAt)) {
        if (freeAt === undefined) continue
        const state = stateOf({ name })
        for (; state.next <= slot; state.next++) state.free.add(state.next)
        state.free.delete(slot)
        state.kept.delete(slot)
        insertByTime(state, slot, freeAt)
      }
    },
  }
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const first: T[] = []
  for (const item of items) {
    if (first.length === count) break
    first.push(item)
  }
  return first
}

/**
 * Lowers times that are further away than a period: the clock was set back since. Then the slots are in the order of
 * their times again.
 */
function limitToPeriod({ kept }: State, latest: EpochMs): void {
  const entries = [...kept].map(([slot, freeAt]) => [slot, freeAt > latest ? latest : freeAt] as const)
  kept.clear()
  for (const [slot, freeAt] of entries.sort(([, one], [, other]) => one - other)) kept.set(slot, freeAt)
}

/** Keeps the times in order: another process may have taken the slot before slots that this process keeps. */
function insertByTime({ kept }: State, slot: number, freeAt: EpochMs): void {
  const later = [...kept].filter(([, at]) => at > freeAt)
  for (const [other] of later) kept.delete(other)
  for (const [other, at] of [[slot, freeAt] as const, ...later]) kept.set(other, at)
}

const byFreeAt = (one: TakenSlot, other: TakenSlot) => (one.freeAt ?? 0) - (other.freeAt ?? 0)
