import type { Subscription, SubscriptionItem } from './subscription.ts'

/** What a subscription has given so far, and how it ended. */
export interface Collected {
  readonly items: SubscriptionItem[]
  /** `undefined` while it goes on. */
  ending(): 'ended' | Error | undefined
  /** Ids of the events, `gap` for gaps. */
  ids(): string[]
}

/** Reads a subscription in the background. */
export function collect(subscription: Subscription): Collected {
  const items: SubscriptionItem[] = []
  let ending: 'ended' | Error | undefined
  const read = async () => {
    for await (const item of subscription) items.push(item)
  }
  read().then(
    () => {
      ending = 'ended'
    },
    (error: Error) => {
      ending = error
    },
  )
  return { items, ending: () => ending, ids: () => items.map(nameOf) }
}

export const nameOf = (item: SubscriptionItem): string => (item.type === 'event' ? item.event.eventId : item.type)
