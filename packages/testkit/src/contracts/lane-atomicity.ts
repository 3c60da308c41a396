import type { Conflict, Storage, Write } from '@perdure/ports'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `lane.${string}`>

const HELD = { lane: 'held', slot: 0 }
const OLD = { lane: 'old', slot: 0, freeAt: at(1) }

export const seedLanes = (storage: Storage) =>
  commit(storage, { type: 'lane.take', runId: 'run-holder', slots: [HELD, OLD], now: at(0) })

/** One write of every type. Each succeeds after the seed and has a visible effect. */
export const LANE_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'lane.take': { type: 'lane.take', runId: 'run-next', slots: [{ lane: 'new', slot: 0 }], now: at(0) },
  'lane.prune': { type: 'lane.prune', now: at(1), limit: 1 },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const LANE_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'lane.take': { type: 'lane.take', runId: 'run-next', slots: [{ lane: 'new', slot: 1 }, HELD], now: at(0) },
}

/** The slots that the seed and the changes touch. */
export const laneSnapshot = async ({ lanes }: Storage) => ({ lanes: await lanes.taken({ now: at(0), limit: 10 }) })
