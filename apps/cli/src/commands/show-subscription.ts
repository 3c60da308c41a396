import type { SubscribeOptions } from '@perdure/client'
import type { Call } from '../call.ts'
import { eventText } from '../output/event-text.ts'
import { stopOnInterrupt } from './stop-on-interrupt.ts'

export interface SubscriptionRequest extends Omit<SubscribeOptions, 'signal'> {
  readonly subject: string
}

/** Prints events until the subject ends or the user presses Ctrl-C. */
export async function showSubscription(call: Call, { subject, ...options }: SubscriptionRequest): Promise<void> {
  // A subscription reconnects forever, so fail now if the server is unreachable.
  await call.client().health.live()
  await stopOnInterrupt(call, async (signal) => {
    for await (const item of call.client().subscribe(subject, { ...options, signal })) {
      if (item.type === 'event') call.out.item(item.event, (paint) => eventText(item.event, paint))
      else call.out.note(`events are missing after ${item.lastEventId}`)
    }
  })
}
