import {
  type Clock,
  type CronSchedule,
  type EpochMs,
  type FireStore,
  type Page,
  type PageQuery,
  perdureError,
  type TriggerStore,
} from '@perdure/ports'
import { kindOf } from './kinds/trigger-kinds.ts'
import { toIso } from './trigger-events.ts'
import { type FireResource, type TriggerResource, toFireResource, toTriggerResource } from './trigger-resource.ts'

export interface ReadTriggersDeps {
  readonly triggers: TriggerStore
  readonly fires: FireStore
  readonly clock: Clock
  readonly cronSchedule: CronSchedule
}

/** Reads triggers and their fires for the API. */
export interface ReadTriggers {
  list(page: PageQuery): Promise<Page<TriggerResource>>
  /** @throws PerdureError `trigger-not-found` */
  get(id: string): Promise<TriggerResource>
  /** @throws PerdureError `trigger-not-found` */
  fires(id: string, page: PageQuery): Promise<Page<FireResource>>
  /**
   * The next fires after `since` (default: now) that the rule of the trigger determines, whether or not it is enabled;
   * none if it does not follow the clock.
   *
   * @throws PerdureError `trigger-not-found`
   */
  next(id: string, request: { readonly limit: number; readonly since?: string | undefined }): Promise<UpcomingFires>
}

export interface UpcomingFires {
  readonly fires: readonly { readonly at: string }[]
}

export function createReadTriggers({ triggers, fires, clock, cronSchedule }: ReadTriggersDeps): ReadTriggers {
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
    async next(id, { limit, since }) {
      const trigger = await findTrigger(triggers, id)
      const { next, ready } = kindOf(trigger)
      await ready(cronSchedule)
      const items: { at: string }[] = []
      let after = since === undefined ? clock.now() : (Date.parse(since) as EpochMs)
      while (items.length < limit) {
        const at = next(trigger, after, cronSchedule)
        if (at === undefined || at > (trigger.expiresAt ?? Number.POSITIVE_INFINITY)) break
        items.push({ at: toIso(at) })
        after = at
      }
      return { fires: items }
    },
  }
}

/** @throws PerdureError `trigger-not-found` */
export async function findTrigger(triggers: TriggerStore, id: string) {
  const trigger = await triggers.find(id)
  if (trigger === undefined) throw perdureError('trigger-not-found', { hint: 'list the triggers with GET /triggers' })
  return trigger
}
