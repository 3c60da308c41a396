import { perProtocol } from '@perdure/protocol'
import type { HttpConfig } from './http-app-deps.ts'

/** The configuration of the test app, with small limits. */
export const TEST_CONFIG: HttpConfig = {
  basePath: '/v1',
  bodyLimitBytes: 1_000,
  protocolBodyLimitBytes: 1_000,
  maxFileBytes: 1_000,
  hookIds: new Set(['shop']),
  hookRequestsPerMinute: 1_000,
  hookBodyLimitBytes: 1_000,
  allowOrigins: [],
  csrfEnabled: true,
  trustProxy: 0,
  perIpRequests: 1_000,
  pollsPerMinute: 1_000,
  requireKey: 'warn',
  authKind: 'token',
  host: '127.0.0.1',
  allowedHosts: [],
  docsEnabled: true,
  consoleEnabled: true,
  consoleReadOnly: false,
  metricsEnabled: true,
  protocols: perProtocol(() => true),
  metricsRequireAuth: true,
}

/** The limits of the protocols of other software. */
export const PROTOCOL_LIMITS = {
  ...{ maxResultBytes: 1_000_000, maxAnswerBytes: 8_388_608, foldCacheBytes: 1_000_000 },
  yieldTurn: async () => undefined,
}

/** Rules for users of a provider, of which the test app has none. */
export const NO_ROLES = { id: 'sso', claim: 'roles', sessionSeconds: 3_600 }
