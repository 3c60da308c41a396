import type { Call } from '../call.ts'
import { showSubscription } from './show-subscription.ts'

export const eventsTailCommand = (
  call: Call,
  { subject, since }: { readonly subject: string; readonly since?: string },
): Promise<void> => showSubscription(call, { subject, lastEventId: since })
