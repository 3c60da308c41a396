import type { Conflict, Storage, Write } from '@perdure/ports'
import { aHookDelivery, aHookOutcome } from '../hook-builders.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `hook-delivery.${string}`>

const DEAD = aHookDelivery({ id: 'dead', deliveryId: 'dead', status: 'dead', createdAt: at(5) })

export const HOOK_SEED: readonly Write[] = [
  { type: 'hook-delivery.insert', delivery: aHookDelivery() },
  { type: 'hook-delivery.insert', delivery: DEAD },
]

/** One write of every type. In this order, each succeeds after the seed and has a visible effect. */
export const HOOK_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'hook-delivery.insert': {
    type: 'hook-delivery.insert',
    delivery: aHookDelivery({ id: 'new', deliveryId: 'new', createdAt: at(6) }),
  },
  'hook-delivery.replay': { type: 'hook-delivery.replay', id: DEAD.id, replays: 0, outcome: aHookOutcome() },
  'hook-delivery.prune': { type: 'hook-delivery.prune', before: at(1), limit: 9 },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const HOOK_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'hook-delivery.insert': { type: 'hook-delivery.insert', delivery: { ...DEAD, id: 'another' } },
  'hook-delivery.replay': { type: 'hook-delivery.replay', id: DEAD.id, replays: 9, outcome: aHookOutcome() },
}

/** Everything that the port returns about the rows that the seed and the changes touch. */
export const hookSnapshot = async ({ hookDeliveries }: Storage) => ({
  hookDeliveries: await hookDeliveries.list({ hookId: 'shop' }, { limit: 200, order: 'asc' }),
})
