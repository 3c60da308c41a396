import { pacedDeltas } from './paced-deltas.ts'

const echo = (id, options) => ({
  ...{ id, description: 'Answers its input.', agent: { id, run: async (input) => input } },
  ...options,
})
/** Additional agents, as many as the case sets in BENCH_AGENTS. */
const extraAgents = Array.from({ length: Number(process.env.BENCH_AGENTS ?? 0) }, (_, index) => echo(`agent-${index}`))

export default {
  server: { port: 0, rateLimit: { perIpRequests: 2_000_000_000 } },
  auth: { kind: 'none' },
  log: { level: 'warn' },
  agents: [
    echo('echo'),
    echo('retry', { onCrash: 'retry' }),
    echo('pure', { effects: 'none' }),
    ...extraAgents,
    {
      id: 'talk',
      description: 'Emits the given number of events, with the given padding and interval.',
      agent: {
        id: 'talk',
        async *run({ settings, ...input }) {
          const { events, bytes = 0, everyMs = 0, delayMs = 0 } = settings ?? input
          if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
          const padding = 'x'.repeat(bytes)
          for (let index = 0; index < events; index++) {
            if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs))
            yield { type: 'text.delta', payload: { delta: `word ${index}${padding}` } }
          }
          return { events }
        },
      },
    },
    {
      id: 'model',
      description: 'Emits text deltas at a fixed rate, each with the time of its emit.',
      agent: { id: 'model', run: pacedDeltas },
    },
  ],
}
