const echo = (id) => ({ id, description: 'Answers its input.', agent: { id, run: async (input) => input } })
/** As many more agents as a case asks for. */
const more = Array.from({ length: Number(process.env.BENCH_AGENTS ?? 0) }, (_, index) => echo(`agent-${index}`))

export default {
  server: { port: 0, rateLimit: { perIpRequests: 2_000_000_000 } },
  auth: { kind: 'none' },
  log: { level: 'warn' },
  agents: [
    echo('echo'),
    ...more,
    {
      id: 'talk',
      description: 'Emits as many events as it is asked for, of that many bytes, at that pace.',
      agent: {
        id: 'talk',
        async *run({ events, bytes = 0, everyMs = 0 }) {
          const padding = 'x'.repeat(bytes)
          for (let index = 0; index < events; index++) {
            if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs))
            yield { type: 'text.delta', payload: { delta: `word ${index}${padding}` } }
          }
          return { events }
        },
      },
    },
  ],
}
