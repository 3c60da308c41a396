import type { EpochMs, TakenSlot } from '@perdure/ports'
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
}

export function createLaneSlots(now: () => EpochMs): LaneSlots {
  const states = new Map<string, State>()

  const stateOf = ({ name }: Pick<Lane, 'name'>): State => {
    const known = states.get(name)
    if (known !== undefined) return known
    const state: State = { holders: new Map(), kept: new Map(), free: new Set(), next: 0 }
    states.set(name, state)
    return state
  }

  const freeDue = ({ name }: Pick<Lane, 'name'>) => {
    const state = states.get(name)
    if (state === undefined) return
    const at = now()
    for (const [slot, freeAt] of state.kept) {
      if (freeAt > at) break
      state.kept.delete(slot)
      state.free.add(slot)
    }
    if (state.kept.size === 0 && state.holders.size === 0) states.delete(name)
  }

  return {
    hasFree(lane) {
      freeDue(lane)
      const state = states.get(lane.name)
      return state === undefined || state.holders.size + state.kept.size < lane.limit
    },
    take(lane, runId) {
      const state = stateOf(lane)
      const [freed] = state.free
      const slot = freed ?? state.next++
      state.free.delete(slot)
      state.holders.set(slot, runId)
      return slot
    },
    free(lane, slot) {
      const state = stateOf(lane)
      state.holders.delete(slot)
      state.free.add(slot)
      freeDue(lane)
    },
    keepUntil(lane, slot, freeAt) {
      const state = stateOf(lane)
      state.holders.delete(slot)
      state.kept.set(slot, freeAt)
    },
    nextFreeAt({ name }) {
      const [first] = states.get(name)?.kept.values() ?? []
      return first
    },
    holders: ({ name }) => [...(states.get(name)?.holders.values() ?? [])],
    restore(slots) {
      for (const { lane: name, slot, freeAt } of [...slots].sort(byFreeAt)) {
        if (freeAt === undefined) continue
        const state = stateOf({ name })
        for (; state.next <= slot; state.next++) state.free.add(state.next)
        state.free.delete(slot)
        state.kept.set(slot, freeAt)
      }
    },
  }
}

const byFreeAt = (one: TakenSlot, other: TakenSlot) => (one.freeAt ?? 0) - (other.freeAt ?? 0)
