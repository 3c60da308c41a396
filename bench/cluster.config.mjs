import shipped from './shipped.config.mjs'

/** The default configuration with a short time for runs to end by themselves when a server stops. */
export default {
  ...shipped,
  server: { ...shipped.server, shutdown: { drainTimeoutMs: Number(process.env.BENCH_DRAIN_MS ?? 200) } },
  log: { level: 'error' },
  agents: [
    ...shipped.agents,
    {
      id: 'hold',
      description: 'Executes until it is aborted.',
      onCrash: 'retry',
      recoveries: 9_999,
      agent: {
        id: 'hold',
        run: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
      },
    },
  ],
}
