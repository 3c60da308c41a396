export default {
  server: { port: 0, rateLimit: { perIpRequests: 2_000_000_000 } },
  auth: { kind: 'none' },
  log: { level: 'warn' },
  agents: [
    { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } },
    {
      id: 'talk',
      description: 'Emits as many events as it is asked for.',
      agent: {
        id: 'talk',
        async *run({ events }) {
          for (let index = 0; index < events; index++) yield { type: 'text.delta', payload: { delta: `word ${index}` } }
          return { events }
        },
      },
    },
  ],
}
