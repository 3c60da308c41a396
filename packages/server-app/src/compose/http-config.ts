import type { HttpConfig } from '@perdure/http'
import { perProtocol, type ServerConfig } from '@perdure/protocol'

/** Extracts the configuration that the HTTP layer reads. */
export const httpConfigOf = ({
  server,
  auth,
  docs,
  metrics,
  protocols,
  console,
  files,
  webhooks,
}: ServerConfig): HttpConfig => ({
  basePath: server.basePath,
  bodyLimitBytes: server.bodyLimitBytes,
  protocolBodyLimitBytes: Math.max(server.bodyLimitBytes, protocols.bodyLimitBytes),
  maxFileBytes: files.maxBytes,
  hookIds: new Set(webhooks.in.map(({ id }) => id)),
  hookRequestsPerMinute: webhooks.inRequestsPerMinute,
  hookBodyLimitBytes: webhooks.inBodyLimitBytes,
  allowOrigins: server.cors.allowOrigins,
  csrfEnabled: server.csrf.enabled,
  trustProxy: server.trustProxy,
  perIpRequests: server.rateLimit.perIpRequests,
  pollsPerMinute: Math.max(protocols.pollsPerMinute, server.rateLimit.perIpRequests),
  requireKey: server.idempotency.requireKey,
  authKind: auth.kind,
  host: server.host,
  allowedHosts: server.allowedHosts,
  docsEnabled: docs.enabled,
  consoleEnabled: console.enabled,
  consoleReadOnly: console.readOnly,
  metricsEnabled: metrics.enabled,
  protocols: perProtocol((name) => protocols.enabled && protocols[name]),
  metricsRequireAuth: metrics.requireAuth,
})
