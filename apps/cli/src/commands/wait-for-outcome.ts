import type { Call } from '../call.ts'
import { awaitsAction, type Outcome } from './run-result.ts'

/** Waits until the run ends, is suspended until someone acts, or `maxWaitMs` has passed, and returns its state. */
export async function waitForOutcome(call: Call, runId: string, maxWaitMs?: number): Promise<Outcome> {
  const { runs } = call.client()
  const { subject } = await runs.state(runId)
  const subscription = call.client().subscribe(subject, { transport: 'sse' })
  const timer = maxWaitMs === undefined ? undefined : setTimeout(() => subscription.close(), maxWaitMs)
  for await (const item of subscription) {
    if (item.type === 'event' && (await awaitsAction(call, runId, item.event))) break
  }
  clearTimeout(timer)
  return runs.state(runId)
}
