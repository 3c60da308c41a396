import type { Subscription, SubscriptionItem } from './subscription.ts'

/** The items a subscription has yielded so far, and how it ended. */
export interface Collected {
  readonly items: SubscriptionItem[]
  /** `undefined` while the subscription is open. */
  ending(): 'ended' | Error | undefined
  /** Event ids, with `gap` for each gap. */
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
