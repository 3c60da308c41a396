import { AppError, type Clock, type FireStore, type Page, type PageQuery, type TriggerStore } from '@perdure/ports'
import { type FireResource, type TriggerResource, toFireResource, toTriggerResource } from './trigger-resource.ts'

export interface ReadTriggersDeps {
  readonly triggers: TriggerStore
  readonly fires: FireStore
  readonly clock: Clock
}

/** Reads triggers and their fires for the API. */
export interface ReadTriggers {
  list(page: PageQuery): Promise<Page<TriggerResource>>
  /** @throws AppError `trigger-not-found` */
  get(id: string): Promise<TriggerResource>
  /** @throws AppError `trigger-not-found` */
  fires(id: string, page: PageQuery): Promise<Page<FireResource>>
}

export function createReadTriggers({ triggers, fires, clock }: ReadTriggersDeps): ReadTriggers {
  return {
    async list(page) {
      const { items, nextCursor } = await triggers.list(page)
      return { items: items.map((trigger) => toTriggerResource(trigger, clock.now())), nextCursor }
    },
    get: async (id) => toTriggerResource(await findTrigger(triggers, id), clock.now()),
    async fires(id, page) {
      await findTrigger(triggers, id)
      const { items, nextCursor } = await fires.list({ triggerId: id }, page)
      return { items: items.map(toFireResource), nextCursor }
    },
  }
}

/** @throws AppError `trigger-not-found` */
export async function findTrigger(triggers: TriggerStore, id: string) {
  const trigger = await triggers.find(id)
  if (trigger === undefined) throw new AppError('trigger-not-found', { hint: 'list the triggers with GET /triggers' })
  return trigger
}
