/**
 * `row`: the configuration is stored as a row that all processes use, and a configuration without it does not remove it at
 * once. `limit`: the configuration says when rows are deleted, and the longest limit of the living processes applies.
 * `process`: only the process itself uses it, and no row follows from it.
 */
type Effect = 'row' | 'limit' | 'process'

/** Everything that a configuration declares, and what it does to rows that other processes use as well. */
export const DECLARED_NOUNS = {
  trigger: { option: 'triggers', effect: 'row' },
  webhook: { option: 'webhookEndpoints', effect: 'row' },
  retention: { option: 'config.retention', effect: 'limit' },
  'webhook-retention': { option: 'config.webhooks.retentionDays', effect: 'limit' },
  'hook-retention': { option: 'config.webhooks.inKeepDays', effect: 'limit' },
  'audit-retention': { option: 'config.audit.retentionDays', effect: 'limit' },
  'mcp-server': { option: 'mcpServers', effect: 'process' },
  skill: { option: 'skills', effect: 'process' },
  agent: { option: 'agents', effect: 'process' },
  workflow: { option: 'workflows', effect: 'process' },
  redaction: { option: 'config.realtime.sanitizer', effect: 'process' },
} as const satisfies Readonly<Record<string, { readonly option: string; readonly effect: Effect }>>

export type DeclaredNoun = keyof typeof DECLARED_NOUNS
