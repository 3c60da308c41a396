import type { SubscribeOptions } from '@perdure/client'
import type { Call } from '../call.ts'
import { eventText } from '../output/event-text.ts'
import { untilLeft } from './until-interrupted.ts'

export interface SubscriptionRequest extends Omit<SubscribeOptions, 'signal'> {
  readonly subject: string
}

/** Shows events until the subject ends or somebody leaves. */
export async function showSubscription(call: Call, { subject, ...options }: SubscriptionRequest): Promise<void> {
  // A subscription tries again for ever; a server that is not there is to be said at once.
  await call.client().health.live()
  await untilLeft(call, async (signal) => {
    for await (const item of call.client().subscribe(subject, { ...options, signal })) {
      if (item.type === 'event') call.out.item(item.event, (paint) => eventText(item.event, paint))
      else call.out.note(`events are missing after ${item.lastEventId}`)
    }
  })
}
