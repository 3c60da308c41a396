import bench from './perdure.config.mjs'

/** An issuer of JWTs, for the case that sets its key. */
const jwt = {
  id: 'bench',
  issuer: 'https://bench.test',
  audience: 'perdure',
  keys: { secretRef: 'env:BENCH_JWT_KEY' },
  algorithms: ['EdDSA'],
  scopes: ['agents:invoke'],
}

/** A hook whose deliveries start a run each, for the case that sets its secret. */
const hook = {
  id: 'bench',
  verify: 'github',
  secretRef: 'env:BENCH_HOOK_SECRET',
  to: { agent: 'echo', input: ({ body }) => body },
}

/** The default configuration, except for the port and for the rate limits, which would refuse the load. */
export default {
  server: bench.server,
  auth: { pepperRef: 'env:BENCH_PEPPER', jwt: process.env.BENCH_JWT_KEY === undefined ? [] : [jwt] },
  webhooks: { inRequestsPerMinute: 10_000_000, in: process.env.BENCH_HOOK_SECRET === undefined ? [] : [hook] },
  agents: bench.agents,
}
