import * as v from 'valibot'
import { HOOK_PLATFORM_LIST, HookConfigs } from './hooks.ts'
import { field, section } from './section.ts'
import { boolean, days, hostWithPort, milliseconds, within } from './values.ts'

export const WebhooksSection = section({
  enabled: field(boolean, true, {
    note: 'Whether the server sends webhooks. When false, deliveries wait for a later start.',
  }),
  allowHosts: field(v.array(hostWithPort), [], {
    note: 'Hosts to which webhooks may connect over http: and at addresses that are not public; include the port unless it is the default port.',
  }),
  timeoutMs: field(milliseconds(1), 15_000, {
    note: 'How long an endpoint may take to answer a delivery, in milliseconds.',
  }),
  maxPerSubject: field(within(1, 900), 20, {
    note: 'Maximum number of webhooks that a subject adds with webhooks:write:own. Tokens with webhooks:write are not bound by it.',
  }),
  in: field(HookConfigs, [], {
    note: `Hooks: addresses at which the server receives signed requests of other services, \`POST /hooks/:id\`. Each has \`id\`, \`verify\` (${HOOK_PLATFORM_LIST}, \`{ kind: 'hmac', header, algorithm, encoding, prefix, payload, timestampHeader, timestampUnit, idHeader, secretEncoding }\`, \`{ kind: 'jwt', header, issuer, audience, algorithms, jwksUrl, bodyHashClaim }\` or a function) and \`secretRef\` (a reference or a list of them), and optionally \`to\` (\`{ agent | workflow, input, sessionId }\` or \`{ event, input, key }\`), \`toleranceSeconds\` (1 to 3600; 300, or 60 for linear) and \`headers\` (names of headers to store).`,
  }),
  inRequestsPerMinute: field(within(1, 10_000_000), 12_000, {
    note: 'Maximum number of requests per minute from one client address to one hook.',
  }),
  inBodyLimitBytes: field(within(1, 26_214_400), 1_048_576, {
    note: 'Maximum size of the body of a request to a hook, in bytes.',
  }),
  inKeepDays: field(days(1), 30, {
    note: 'Days after which deliveries that hooks have received are removed. Until then, a repeated delivery starts nothing.',
  }),
  retentionDays: field(days(4), 30, {
    note: 'Days after which ended webhook deliveries are removed. The server retries a pending delivery for about 3 days.',
  }),
})
