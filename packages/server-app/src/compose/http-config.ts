import type { HttpConfig } from '@perdure/http'
import type { ServerConfig } from '@perdure/protocol'

/** Extracts the configuration that the HTTP layer reads. */
export const httpConfigOf = ({ server, auth, docs, metrics, interop, console }: ServerConfig): HttpConfig => ({
  basePath: server.basePath,
  bodyLimitBytes: server.bodyLimitBytes,
  interopBodyLimitBytes: Math.max(server.bodyLimitBytes, interop.bodyLimitBytes),
  allowOrigins: server.cors.allowOrigins,
  csrfEnabled: server.csrf.enabled,
  trustProxy: server.trustProxy,
  perIpRequests: server.rateLimit.perIpRequests,
  pollsPerMinute: Math.max(interop.pollsPerMinute, server.rateLimit.perIpRequests),
  requireKey: server.idempotency.requireKey,
  authKind: auth.kind,
  host: server.host,
  allowedHosts: server.allowedHosts,
  docsEnabled: docs.enabled,
  consoleEnabled: console.enabled,
  consoleReadOnly: console.readOnly,
  metricsEnabled: metrics.enabled,
  aiSdkEnabled: interop.enabled && interop.aiSdk,
  agUiEnabled: interop.enabled && interop.agUi,
  openAiEnabled: interop.enabled && interop.openai,
  mcpEnabled: interop.enabled && interop.mcp,
  metricsRequireAuth: metrics.requireAuth,
})
