import type { Call } from '../call.ts'
import { eventText } from '../output/event-text.ts'
import { showSubscription } from './show-subscription.ts'

export interface RunsTailFlags {
  readonly run: string
  readonly follow?: boolean
  readonly since?: string
}

export async function runsTailCommand(call: Call, { run, follow, since }: RunsTailFlags): Promise<void> {
  const { runs } = call.client()
  if (follow) {
    const { subject } = await runs.state(run)
    await showSubscription(call, { subject, lastEventId: since, transport: 'sse' })
    return
  }
  for await (const event of runs.events(run, { limit: 200, lastEventId: since })) {
    call.out.item(event, (paint) => eventText(event, paint))
  }
}
