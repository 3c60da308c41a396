import type { Call } from '../call.ts'
import { type Outcome, waitsForSomebody } from './run-result.ts'

/** What the run came to, or how it stands after `mostMs`; one that waits for somebody is an answer too. */
export async function waitForOutcome(call: Call, runId: string, mostMs?: number): Promise<Outcome> {
  const { runs } = call.client()
  const { subject } = await runs.state(runId)
  const subscription = call.client().subscribe(subject, { transport: 'sse' })
  const timer = mostMs === undefined ? undefined : setTimeout(() => subscription.close(), mostMs)
  for await (const item of subscription) {
    if (item.type === 'event' && (await waitsForSomebody(call, runId, item.event))) break
  }
  clearTimeout(timer)
  return runs.state(runId)
}
