import type { Conflict, Storage, Write } from '@perdure/ports'
import { aFire, aTrigger } from '../builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `trigger.${string}` | `fire.${string}`>

const TRIGGER = aTrigger({ id: 'trg-1', dueAt: at(1), lastFireId: 'fire-1' })
const STARTED = aFire({ id: 'fire-1', triggerId: TRIGGER.id, status: 'started' })
const PENDING = aFire({ id: 'fire-2', triggerId: TRIGGER.id, scheduledAt: at(1) })
const OVER = aFire({ id: 'fire-3', triggerId: TRIGGER.id, scheduledAt: at(2), status: 'missed' })

export const seedTriggers = (storage: Storage) =>
  commit(
    storage,
    { type: 'trigger.insert', trigger: TRIGGER },
    { type: 'trigger.insert', trigger: aTrigger({ id: 'trg-2', event: 'e' }) },
    ...[STARTED, PENDING, OVER].map((fire) => ({ type: 'fire.insert', fire }) as const),
  )

/** One write of every type. In this order, each succeeds after the seed and has a visible effect. */
export const TRIGGER_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'trigger.insert': { type: 'trigger.insert', trigger: aTrigger({ id: 'trg-3', kind: 'event', event: 'e' }) },
  'trigger.replace': { type: 'trigger.replace', trigger: { ...TRIGGER, dueAt: at(0), version: 2 } },
  'fire.insert': { type: 'fire.insert', fire: aFire({ id: 'fire-4', triggerId: TRIGGER.id, scheduledAt: at(3) }) },
  'fire.change': { type: 'fire.change', id: PENDING.id, from: 'pending', change: { status: 'skipped' } },
  'fire.end': { type: 'fire.end', id: STARTED.id, status: 'failed', reason: 'no luck' },
  'fire.prune': { type: 'fire.prune', before: at(1), limit: 9 },
  'trigger.delete': { type: 'trigger.delete', id: TRIGGER.id },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const TRIGGER_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'trigger.insert': { type: 'trigger.insert', trigger: aTrigger({ id: 'trg-2' }) },
  'trigger.replace': { type: 'trigger.replace', trigger: aTrigger({ id: 'trg-2', version: 9 }) },
  'fire.insert': { type: 'fire.insert', fire: aFire({ triggerId: 'trg-unknown' }) },
  'fire.change': { type: 'fire.change', id: 'fire-unknown', from: 'pending', change: { status: 'skipped' } },
}

/** Everything that the ports return about the rows that the seed and the changes touch. */
export async function triggerSnapshot({ triggers, fires }: Storage) {
  const all = { limit: 200, order: 'asc' } as const
  return {
    triggers: [await triggers.list(all), await triggers.due(at(1), 10), await triggers.listByEvent('e', { limit: 10 })],
    overview: await triggers.overview(),
    fires: [await fires.list({ triggerId: TRIGGER.id }, all), await fires.firstPending(10)],
  }
}
