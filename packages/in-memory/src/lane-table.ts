import { LANE_CLOCK_TOLERANCE_MS, type LaneSlot, type LaneStore, type TakenSlot } from '@perdure/ports'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface LaneTable extends Table<LaneStore, WritesOf<'lane'>> {
  /** Frees the slots that the run holds without a `freeAt`. */
  freeHeld(runId: string, undo: UndoLog): void
}

export function createLaneTable(): LaneTable {
  const slots = new Map<string, TakenSlot>()

  return {
    store: {
      async taken({ now, after, limit }) {
        const rest = [...slots.values()]
          .filter(({ freeAt }) => freeAt === undefined || freeAt > now)
          .filter((slot) => after === undefined || compare(slot, after) > 0)
        return rest.sort(compare).slice(0, limit)
      },
    },
    appliers: {
      'lane.take'({ type, runId, slots: wanted, now }, { undo }) {
        for (const { lane, slot, freeAt } of wanted) {
          const key = keyOf({ lane, slot })
          const current = slots.get(key)
          const isOver = (at: number) => current?.freeAt !== undefined && current.freeAt <= at
          const isBeforeSetBack = freeAt !== undefined && (current?.freeAt ?? freeAt) - freeAt > LANE_CLOCK_TOLERANCE_MS
          const isFree = current === undefined || isOver(now) || isBeforeSetBack
          if (!isFree && current.runId !== runId) return { type, current }
          putEntry(slots, [key, Object.freeze({ lane, slot, freeAt, runId })], undo)
        }
        return wanted.length
      },
      'lane.prune'({ now, limit }, { undo }) {
        const free = [...slots].filter(([, { freeAt }]) => freeAt !== undefined && freeAt <= now).slice(0, limit)
        for (const [key] of free) putEntry(slots, [key, undefined], undo)
        return free.length
      },
    },
    freeHeld(runId, undo) {
      for (const [key, taken] of slots)
        if (taken.runId === runId && taken.freeAt === undefined) putEntry(slots, [key, undefined], undo)
    },
  }
}

type SlotId = Pick<LaneSlot, 'lane' | 'slot'>

const keyOf = ({ lane, slot }: SlotId): string => JSON.stringify([lane, slot])

const compare = (one: SlotId, other: SlotId): number =>
  one.lane === other.lane ? one.slot - other.slot : compareByCodePoint(one.lane, other.lane)

function compareByCodePoint(one: string, other: string): number {
  const [first, second] = [[...one], [...other]]
  const index = first.findIndex((character, at) => character !== second[at])
  if (index < 0) return first.length - second.length
  return (first[index]?.codePointAt(0) ?? -1) - (second[index]?.codePointAt(0) ?? -1)
}
