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

/** The default configuration, except for the port and for the rate limit, which would refuse the load. */
export default {
  server: bench.server,
  auth: { pepperRef: 'env:BENCH_PEPPER', jwt: process.env.BENCH_JWT_KEY === undefined ? [] : [jwt] },
  agents: bench.agents,
}
