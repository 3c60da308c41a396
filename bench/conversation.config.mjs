import { chatAgent } from '@perdure/ai-sdk'
import { scriptedModel } from '@perdure/ai-sdk/testing'

/** The model answers at once, so a turn takes the time of the server alone. */
const model = scriptedModel(({ text }) => `You wrote: ${text.slice(0, 200)}`)

export default {
  server: { port: 0, rateLimit: { perIpRequests: 2_000_000_000 } },
  auth: { kind: 'none' },
  log: { level: 'warn' },
  agents: [chatAgent({ id: 'chat', model, onCrash: 'retry', history: { maxTurns: 100 } })],
}
