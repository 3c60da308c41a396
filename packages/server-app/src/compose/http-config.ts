import type { HttpConfig } from '@perdure/http'
import type { ServerConfig } from '@perdure/protocol'

/** Extracts the configuration that the HTTP layer reads. */
export const httpConfigOf = ({ server, auth, docs, metrics }: ServerConfig): HttpConfig => ({
  basePath: server.basePath,
  bodyLimitBytes: server.bodyLimitBytes,
  allowOrigins: server.cors.allowOrigins,
  csrfEnabled: server.csrf.enabled,
  trustProxy: server.trustProxy,
  perIpRequests: server.rateLimit.perIpRequests,
  requireKey: server.idempotency.requireKey,
  authKind: auth.kind,
  host: server.host,
  allowedHosts: server.allowedHosts,
  docsEnabled: docs.enabled,
  metricsEnabled: metrics.enabled,
  metricsRequireAuth: metrics.requireAuth,
})
