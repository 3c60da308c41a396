import bench from './perdure.config.mjs'

/** The default configuration, except for the port and for the rate limit, which would refuse the load. */
export default {
  server: bench.server,
  auth: { pepperRef: 'env:BENCH_PEPPER' },
  agents: bench.agents,
}
